import TokenVault

/// Logins that were renewed at once, to test their refresh tokens.
struct ProbedLogins {
    private var probes: [(login: LoginID, error: Failure?)] = []

    var count: Int { probes.count }

    var hasFailure: Bool { failed != nil }

    var failed: LoginID? { probes.first { $0.error != nil }?.login }

    /// Renews one login, regardless of its access token's remaining lifetime.
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

    /// Empty if there are none.
    func text(_ invocation: Invocation) -> String {
        probes.isEmpty ? "" : "\n" + invocation.text(Table(["LOGIN", "RENEWED", "PROBLEM"], records))
    }
}
