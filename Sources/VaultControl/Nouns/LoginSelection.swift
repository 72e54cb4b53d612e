import ArgumentParser
import TokenVault

/// Which login is meant: by its id, or by its user if that user has only one.
struct LoginSelection: ParsableArguments {
    @Argument(help: .init("The login's id.", valueName: "login"))
    var login: String?

    @Option(name: .shortAndLong, help: .init("The user, if they have only one login.", valueName: "id"))
    var user: String?

    enum Choice {
        case login(LoginID)
        case user(String)
    }

    var choice: Choice {
        get throws(Failure) { try Self.choice(login: login, user: user, way: "a login id") }
    }

    /// - Parameter way: how a login is named.
    static func choice(login: String?, user: String?, way: String) throws(Failure) -> Choice {
        switch (login, user) {
        case (let text?, nil):
            return .login(try Self.id(text))
        case (nil, let user?):
            return .user(user)
        case (nil, nil):
            throw .usage("no login specified", hint: "use \(way), or --user ID")
        case (_?, _?):
            throw .usage("\(way) and --user cannot be combined", hint: "use only one of them")
        }
    }

    static func id(_ text: String) throws(Failure) -> LoginID {
        guard let id = LoginID(text) else {
            throw .usage(
                "\(Printable.named(text)) is not a login id, which is 26 letters and digits",
                hint: "list all logins: vaultctl login list; or specify the user: --user ID")
        }
        return id
    }

    /// The one login that is meant.
    func find(in vault: Vault) async throws -> Login {
        switch try choice {
        case .login(let id):
            return try await vault.login(id)
        case .user(let user):
            do {
                return try await vault.login(try vault.onlyLogin(ofUser: user))
            } catch let error as VaultError {
                throw await Self.explained(error, user, vault)
            }
        }
    }

    /// With what there is to choose from, and with what is damaged.
    static func explained(_ error: VaultError, _ user: String, _ vault: Vault) async -> any Error {
        switch error.code {
        case .ambiguousLogin:
            var choices: [String] = []
            for login in error.logins { choices.append(await choice(login, vault)) }
            return Failure(
                error.code, "the user has \(error.logins.count) logins",
                hints: ["specify one of them by its id:"] + choices)
        case .quarantined:
            guard let id = await damagedLogin(user, vault) else { return error }
            return Failure(
                error.code, "the user's login cannot be opened: \(error.message)",
                hints: ["see what is left of it: vaultctl damage show \(id)"])
        default: return error
        }
    }

    private static func choice(_ id: LoginID, _ vault: Vault) async -> String {
        guard let login = try? await vault.login(id) else { return "\(id)  damaged" }
        let details = [login.provider, login.label, StateWords.short(login)].compactMap(\.self)
        return "\(id)  \(details.map { Printable.shortened($0, to: 32) }.joined(separator: ", "))"
    }

    private static func damagedLogin(_ user: String, _ vault: Vault) async -> LoginID? {
        let entries = await (try? vault.logins(ofUser: user, limit: 100)) ?? []
        return entries.lazy.compactMap { if case .damaged(let id, _) = $0 { id } else { nil } }.first
    }
}
