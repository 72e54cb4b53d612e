import ArgumentParser
import TokenVault

/// Which login is meant: by its id, or by its user if that user has only one.
struct LoginSelection: ParsableArguments {
    @Argument(help: .init("The login's id.", valueName: "login"))
    var login: String?

    @Option(name: .shortAndLong, help: .init("The user, if the user has only one login.", valueName: "id"))
    var user: String?

    enum Choice {
        case login(LoginID)
        case user(String)
    }

    var choice: Choice {
        get throws(Failure) {
            switch (login, user) {
            case (let text?, nil):
                guard let id = LoginID(text) else {
                    throw .usage(
                        "\(Printable.shortened(text)) is not a login id, which is 26 letters and digits",
                        hint: "vaultctl login list shows the ids; --user names a user instead")
                }
                return .login(id)
            case (nil, let user?):
                return .user(user)
            case (nil, nil):
                throw .usage("no login was named", hint: "give a login id, or --user ID")
            case (_?, _?):
                throw .usage("a login id and --user cannot be combined", hint: "give one of them")
            }
        }
    }

    /// The one login that is meant.
    func find(in vault: Vault) throws -> Login {
        switch try choice {
        case .login(let id):
            return try vault.login(id)
        case .user(let user):
            return try Self.only(of: try vault.logins(ofUser: user, limit: 100))
        }
    }

    /// Ended logins count only if there is no other.
    private static func only(of entries: [LoginEntry]) throws -> Login {
        let living = entries.filter { entry in
            if case .login(let login) = entry, case .terminated = login.state { false } else { true }
        }
        let whole = living.filter { if case .login = $0 { true } else { false } }
        // A damaged login hides no other; but it may have been the one that lived.
        let candidates = !whole.isEmpty ? whole : living.isEmpty ? entries : living
        guard let first = candidates.first else {
            throw Failure(
                .notFound, code: "notLoggedIn", "the user has no login", hints: ["begin with: vaultctl login begin"])
        }
        guard candidates.count == 1 else { throw ambiguous(candidates) }
        switch first {
        case .login(let login):
            return login
        case .damaged(let id, let problem):
            throw Failure(
                .damaged, code: "quarantined", "the user's login cannot be opened: \(problem)",
                hints: ["see what is left of it with: vaultctl damage show \(id)"])
        }
    }

    /// Lists what there is to choose from.
    static func ambiguous(_ entries: [LoginEntry]) -> Failure {
        let choices = entries.map { entry in
            switch entry {
            case .login(let login):
                let details = [login.provider, login.label, StateWords.short(login)].compactMap(\.self)
                return "\(login.id)  \(details.map { Printable.shortened($0, to: 32) }.joined(separator: ", "))"
            case .damaged(let id, _):
                return "\(id)  damaged"
            }
        }
        return Failure(
            .usage, code: "ambiguousLogin", "the user has \(entries.count) logins",
            hints: ["name one of them by its id:"] + choices)
    }
}
