import ArgumentParser
import TokenVault

/// The selected login: by its id, or by its user if that user has only one.
struct LoginSelection: ParsableArguments {
    @Argument(help: .init("The login's id, or its beginning.", valueName: "login"))
    var login: String?

    @Option(name: .shortAndLong, help: .init("The user, if they have only one login.", valueName: "id"))
    var user: String?

    @Option(help: .init("The tenant to which --user belongs.", valueName: "tenant"))
    var tenant: TenantName?

    enum Choice {
        case login(LoginID)
        case user(String)
    }

    /// The selection as named, before the vault is read.
    struct Named {
        fileprivate enum Form {
            case login(String)
            case user(String)
        }

        fileprivate let form: Form

        /// - Parameter way: how a login is named.
        init(login: String?, user: String?, tenant: TenantName?, way: String) throws(Failure) {
            switch (login, user) {
            case (let text?, nil):
                guard tenant == nil else {
                    let isID = ShortID.normal(text).map { $0.count >= ShortID.least } ?? false
                    throw .usage(
                        "--tenant needs --user",
                        hint: isID
                            ? "leave it out: an id names a login of any tenant"
                            : "a user goes with an option: --user \(Printable.argument(text))")
                }
                try LoginSelection.check(text)
                form = .login(text)
            case (nil, let user?): form = .user(tenant?.tenant.qualify(user) ?? user)
            case (nil, nil): throw .usage("no login specified", hint: "use \(way), or --user ID")
            case (let text?, _?):
                // `--reveal yes`
                let isSetting = ["yes", "no", "true", "false", "on", "off", "1", "0"].contains(text.lowercased())
                throw .usage(
                    "\(way), \(Printable.shortened(text)), and --user cannot be combined",
                    hint: isSetting
                        ? "an option without a value is on if it is there: leave \(text) out"
                        : "use only one of them; a value with blanks goes into quotation marks")
            }
        }

        func choice(in vault: Vault) async throws -> Choice {
            switch form {
            case .login(let text): .login(try await LoginSelection.id(text, in: vault))
            case .user(let user): .user(user)
            }
        }
    }

    /// Refuses impossible values before anything is opened.
    var named: Named {
        get throws(Failure) { try Named(login: login, user: user, tenant: tenant, way: "a login id") }
    }

    func choice(in vault: Vault) async throws -> Choice { try await named.choice(in: vault) }

    /// Refuses text that cannot start an id.
    ///
    /// - Parameter orUser: whether a user can be named instead.
    static func check(_ text: String, orUser: Bool = true) throws(Failure) {
        let normal = ShortID.normal(text)
        if let normal, normal.count == ShortID.length, LoginID(normal) == nil {
            throw Failure(
                .unknownLogin, "no login has the id \(normal)", hints: ["list all logins: vaultctl login list"])
        }
        guard let normal, normal.count >= ShortID.least else {
            throw .usage(
                "\(Printable.named(text)) is not a login id: \(ShortID.rule(for: text))",
                hint: "list all logins: vaultctl login list" + (orUser ? "; or specify the user: --user ID" : ""))
        }
    }

    /// The login that an argument names by its id, or by the beginning of its id.
    static func id(_ text: String, in vault: Vault, orUser: Bool = true) async throws -> LoginID {
        try check(text, orUser: orUser)
        let front = ShortID.normal(text) ?? text
        if let id = LoginID(front) { return id }
        let page = try await vault.page(of: LoginFilter(), after: LoginID(ShortID.first(front)), limit: 10)
        let found = page.map(\.id).filter { $0.description.hasPrefix(front) }
        guard found.count <= 1 else {
            throw ShortID.ambiguous(front, "login", found.map(\.description), "begin with")
        }
        guard let id = found.first else {
            if (try? await vault.provider(named: text)) != nil {
                throw Failure(
                    .unknownLogin, "no login's id begins with \(front)",
                    hints: ["\(front) is a provider: vaultctl login list --provider \(Printable.shortened(text))"])
            }
            throw Failure(
                .unknownLogin, "no login's id begins with \(front)",
                hints: [
                    "list all logins: vaultctl login list"
                        + (orUser ? "; if this is a user: --user \(Printable.shortened(text))" : ""),
                    "if this is a label, it shows the id: vaultctl login list --label \(Printable.shortened(text))",
                ])
        }
        return id
    }

    /// The one selected login.
    func find(in vault: Vault) async throws -> Login {
        switch try await choice(in: vault) {
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

    /// Adds the choices, and damaged logins.
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
