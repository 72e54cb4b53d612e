import TokenVault
import VaultAdministration
import VaultStorage

extension Failure {
    /// Inserts the named provider into the hints' commands.
    mutating func nameProvider(_ arguments: [String]) {
        guard hints.contains(where: { $0.contains(" NAME") }), let name = Self.provider(arguments) else { return }
        self = naming(name)
    }

    /// The provider that the command line names.
    static func provider(_ arguments: [String]) -> String? {
        guard let given = GivenArguments(arguments),
            let name = given.value(of: "--provider") ?? given.value(of: "--client")
                ?? (given.words.first == "provider" ? given.value(of: "NAME") : nil)
                ?? (given.words == ["token", "client"] ? given.value(of: "PROVIDER") : nil)
        else { return nil }
        return given.qualified(name)
    }

    /// The failure with the id that the vault lacks, as typed; nil if it reports none.
    func namingID(_ arguments: [String], in vault: Vault) async -> Failure? {
        let titles: [VaultError.Code: [String]] = [
            .unknownLogin: ["LOGIN", "--login", "--into"], .unknownRow: ["ROW", "--replace-damaged"],
            .unknownKeySlot: ["SLOT"], .unknownBackup: ["BACKUP"],
        ]
        let front = "the vault has no such "
        guard message.hasPrefix(front), let found = titles.first(where: { $0.key.name == code }),
            let given = GivenArguments(arguments),
            let typed = found.value.lazy.compactMap({ given.value(of: $0) }).first
        else { return nil }
        var failure = self
        let id = ShortID.normal(typed) ?? typed
        failure.message = "the vault has no \(message.dropFirst(front.count)) \(Printable.named(id))"
        if let own = try? await vault.status().vaultID, own == id {
            failure.hints.insert("this is the id of the vault itself", at: 0)
        }
        return failure
    }

    /// The failure with the login, its user and its provider in the hints' commands, and with what ended a terminated
    /// login; nil if it has nothing to fill in.
    func namingLogin(_ arguments: [String], in vault: Vault) async -> Failure? {
        let codes: [VaultError.Code] = [
            .refreshFailed, .lostResponse, .notRefreshable, .needsUserInteraction, .userDisabled, .notLoggedIn,
            .held,
        ]
        let isOfLogin = codes.contains { $0.name == code }
        let mayHaveReply = code == VaultError.Code.lostResponse.name || message.hasPrefix("no usable reply came;")
        let isUnnamed = hints.contains { hint in [" LOGIN", " USER", " NAME"].contains { hint.contains($0) } }
        guard isOfLogin || isUnnamed || mayHaveReply, let given = GivenArguments(arguments) else { return nil }
        let login = await Self.login(given, in: vault)
        var failure = naming(Failure.provider(arguments) ?? login?.provider)
        if let user = given.value(of: "--user").map({ given.qualified($0) }) ?? login?.userId {
            failure.hints = failure.hints.map { $0.replacing(" USER", with: " \(Printable.argument(user))") }
        }
        guard let login else { return failure }
        failure.hints = failure.hints.map { $0.replacing(" LOGIN", with: " \(login.id)") }
        if mayHaveReply, let replies = try? await vault.unusableReplies(of: login.id), !replies.isEmpty {
            failure.hints.append("a reply that could not be used is kept: vaultctl login salvage \(login.id)")
        }
        guard isOfLogin else { return failure }
        if let reason = StateWords.terminationReason(login), message == "the login was ended" {
            failure.message = "the login \(login.id) was terminated as \(reason)"
            failure.status = .loginDead
        }
        let (update, logIn) = ("vaultctl token update", "; or ask the user to log in again: vaultctl login begin")
        failure.hints = failure.hints.map { hint in
            let hint = hint.replacing(update, with: "\(update) \(login.id)")
            guard login.provider != nil else { return hint.replacing(logIn, with: "") }
            return hint.hasSuffix("vaultctl login begin") ? "\(hint) --into \(login.id)" : hint
        }
        return failure
    }

    private static func login(_ given: GivenArguments, in vault: Vault) async -> Login? {
        let id: LoginID?
        if let text = ["LOGIN", "--login", "--into"].lazy.compactMap({ given.value(of: $0) }).first {
            id = try? await LoginSelection.id(text, in: vault)
        } else {
            guard let user = given.value(of: "--user") else { return nil }
            id = try? await vault.onlyLogin(ofUser: given.qualified(user))
        }
        guard let id else { return nil }
        return try? await vault.login(id)
    }

    /// Repeats a variable that was given under another spelling, or as a parameter of the request.
    mutating func nameVariable(_ arguments: [String]) {
        guard let index = hints.firstIndex(where: { $0.contains("--variable ") }),
            let known = hints[index].split(separator: "--variable ").last?.prefix(while: { $0 != "=" }),
            let given = GivenArguments(arguments)
        else { return }
        for argument in given.all where ["--variable", "--parameter"].contains(argument.taken.title) {
            guard let typed = argument.value, let equals = typed.firstIndex(of: "="),
                case let name = typed[..<equals].filter({ !"{}".contains($0) }),
                name.lowercased() == known.lowercased(),
                argument.taken.title == "--parameter" || typed[..<equals] != known
            else { continue }
            hints[index] = "did you mean: --variable \(known)\(Printable.shortened(String(typed[equals...])))"
        }
    }
}
