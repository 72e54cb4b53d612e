import TokenVault

/// Logins that were renewed at once, to see whether their refresh tokens are good.
struct ProbedLogins {
    private var probes: [(login: LoginID, error: Failure?)] = []

    var hasFailure: Bool { probes.contains { $0.error != nil } }

    /// Renews one login, whatever is left of its access token.
    mutating func renew(_ login: LoginID, _ users: UserManager) async {
        do {
            _ = try await users.accessToken(for: .login(login), .renewed)
            probes.append((login, nil))
        } catch {
            probes.append((login, Failure(error)))
        }
    }

    var records: [OutputRecord] {
        probes.map { probe in
            [
                Field("login", probe.login).column("LOGIN"),
                Field("isRenewed", probe.error == nil).column("RENEWED"), Field("code", probe.error?.code),
                Field("problem", probe.error?.message).column("PROBLEM"),
            ]
        }
    }

    /// Nothing if there were none.
    func text(_ invocation: Invocation) -> String {
        probes.isEmpty ? "" : "\n" + invocation.text(Table(["LOGIN", "RENEWED", "PROBLEM"], records))
    }
}
