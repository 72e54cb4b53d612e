import TokenVault

/// Rows of sources that outlive their logins here: a later reading takes each for a new login.
enum ReturningRows {
    /// - Parameter sources: The names of the sources that the user's logins came from.
    static func warn(ofUserIn sources: [String], _ invocation: Invocation) {
        guard !sources.isEmpty else { return }
        invocation.warn(
            "the user may still be in \(Printable.list(sources)), from where logins were imported: "
                + "remove them there, too, or the next import run adds them again")
    }

    /// Long after a move, the old system is gone. So this is about a login that is not accepted yet.
    static func warn(of login: Login, _ invocation: Invocation) {
        guard let origin = login.origin, origin.owner != .vault, origin.mayHaveRow else { return }
        invocation.warn(
            "\(Printable.shortened(origin.source)), from where the login was imported, may still have it: end it there, "
                + "too, or the next import run adds it again")
    }
}

extension Vault {
    /// The sources from which logins of the user were imported; none if the user cannot be read.
    func sources(ofUser id: String) async -> [String] {
        let entries = (try? await logins(ofUser: id)) ?? []
        let sources = entries.compactMap { entry -> String? in
            guard case .login(let login) = entry, let origin = login.origin, origin.mayHaveRow else { return nil }
            return origin.source
        }
        return Set(sources).sorted()
    }
}

extension LoginOrigin {
    /// Whether the login came from there, and the last reading did not miss it.
    fileprivate var mayHaveRow: Bool { !isExported && !isMissing }
}
