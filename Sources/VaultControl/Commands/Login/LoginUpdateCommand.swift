import ArgumentParser
import TokenVault

struct LoginUpdateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change a login's label and metadata.",
        discussion: """
            vaultctl login update LOGIN --label "work calendar"
            vaultctl login update LOGIN --set team=42 --unset draft

            Tokens are set with vaultctl token update. Metadata is sealed, and shown by login show and login list: it \
            is no place for secrets. A login has up to 16 values, 4 KiB in all.
            """)

    @OptionGroup var selection: LoginSelection

    @Option(help: .init("The new label.", valueName: "text"))
    var label: String?

    @Flag(help: "Take the label away.")
    var noLabel = false

    @Option(help: .init("A value to keep, as NAME=VALUE. Repeatable.", valueName: "name=value"))
    var set: [String] = []

    @Option(help: .init("A value to take away. Repeatable.", valueName: "name"))
    var unset: [String] = []

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        if label != nil, noLabel { throw ValidationError("--label and --no-label cannot be combined") }
        if label == nil, !noLabel, set.isEmpty, unset.isEmpty {
            throw ValidationError("nothing to change: use --label, --no-label, --set or --unset")
        }
    }

    private static func soundsSecret(_ name: String) -> Bool {
        let word = name.lowercased().filter { $0.isLetter }
        return ["token", "secret", "password", "passwd", "passphrase", "apikey", "privatekey", "credential"]
            .contains { word.contains($0) }
    }

    func run(_ invocation: Invocation) async throws {
        var changes: [String: String?] = [:]
        for name in unset { changes.updateValue(nil, forKey: name) }
        for text in set {
            let (name, value) = try LoginFilterOptions.pair(text, "--set")
            guard !unset.contains(name) else {
                throw Failure.usage("--set and --unset name the same value", hint: "use only one of them")
            }
            guard changes.updateValue(value, forKey: name) == nil else {
                throw Failure.usage("--set names \(Printable.named(name)) more than once", hint: "leave the others out")
            }
        }
        if let name = changes.keys.filter({ changes[$0] != .some(nil) }).sorted().first(where: Self.soundsSecret) {
            invocation.warn(
                "metadata is shown with the login, and \(Printable.named(name)) sounds like a secret")
            invocation.advise("a token is set by: vaultctl token update; to take the value away: --unset \(name)")
        }
        let login = try await VaultAccess(global, invocation).manage { users in
            var login = try await selection.find(in: users.vault)
            for name in unset where login.metadata[name] == nil {
                invocation.warn("the login has no value named \(Printable.named(name))")
                if name == "label" { invocation.advise("to take the label away: --no-label") }
            }
            if !changes.isEmpty { login = try await users.setMetadata(changes, of: .login(login.id)) }
            if label != nil || noLabel { login = try await users.setLabel(label, of: .login(login.id)) }
            return login
        }
        try invocation.emit(LoginView.record(login, now: invocation.now))
    }
}
