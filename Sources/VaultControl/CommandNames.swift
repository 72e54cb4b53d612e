import ArgumentParser

/// The commands that a command line names, and that `vaultctl help …` asks for. For an unknown command the parser
/// reports a superfluous argument, blames a later option, or prints the help of the last known command.
enum CommandNames {
    /// `login help` asks for the help of `login`, which has no such command.
    static func helpLast(_ arguments: [String]) -> [String] {
        guard let index = arguments.firstIndex(of: "help"), index > 0, index == arguments.count - 1,
            let command = CommandTree.command(Array(arguments[..<index])), !command.configuration.subcommands.isEmpty
        else { return arguments }
        return ["help"] + arguments[..<index]
    }

    /// Refuses a command that does not exist.
    static func check(_ arguments: [String]) throws(Failure) {
        var (command, path): (any ParsableCommand.Type, String) = (RootCommand.self, "vaultctl")
        let isHelp = arguments.first == "help"
        if arguments.starts(with: ["help", "options"]), let word = arguments.dropFirst(2).first {
            throw .usage(
                "unexpected argument '\(Printable.shortened(word))'",
                hint: "the options of all commands: vaultctl help options; those of one: vaultctl COMMAND --help")
        }
        for name in arguments.dropFirst(isHelp ? 1 : 0) {
            if name.hasPrefix("-") {
                guard isHelp else { return }
                continue
            }
            let known = command.configuration.subcommands
            if known.isEmpty, !isHelp { return }
            guard let next = known.first(where: { $0.configuration.commandName == name }) else {
                throw unknown(name, of: path, known, arguments)
            }
            (command, path) = (next, "\(path) \(name)")
        }
    }

    private static let elsewhere = [
        "audit search": "filter the log: vaultctl audit list --user ID, --login ID, --kind KIND, --since 2h",
        "audit tail": "follow the log: vaultctl audit list --follow",
        "backup info": "look into a backup: vaultctl backup verify BACKUP; all of them: vaultctl backup list",
        "backup show": "look into a backup: vaultctl backup verify BACKUP; all of them: vaultctl backup list",
        "backup prune": "backups are kept and removed by: vaultctl maintain --backup-dir DIRECTORY --keep 7d,5w",
        "backup schedule": "backups on a schedule: vaultctl maintain --backup-every 6h --backup-dir DIRECTORY",
        "import list": "did you mean: vaultctl import status",
        "key rename": "a slot's label stays: add the key again with --label, and remove the old slot",
        "login history": "what has happened to a login: vaultctl audit list --login ID",
        "login import": "logins of another system: vaultctl import run SOURCE",
        "login test": "what comes next for a login: vaultctl login show ID; to renew it: vaultctl login refresh ID",
        "tenant add": "a tenant is there once a provider or a login is added with --tenant NAME",
        "tenant create": "a tenant is there once a provider or a login is added with --tenant NAME",
        "migrate rollback": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "migrate down": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "login count": "did you mean: vaultctl login list --count",
        "user count": "did you mean: vaultctl user list --count",
        "witness add": "did you mean: vaultctl witness begin",
        "witness create": "did you mean: vaultctl witness begin",
        "user logout": "end the user's logins: vaultctl login end --user ID",
        "user revoke": "end the user's logins: vaultctl login end --user ID",
        "user rename":
            "a user's id stays: log the user in under the new one: vaultctl login begin --user ID --provider NAME",
        "provider rename": "a provider keeps its name: its logins have it",
        "witness check": "did you mean: vaultctl witness show",
        "witness status": "did you mean: vaultctl witness show",
        "witness remove": "a vault keeps its witness; its path is a setting: --witness PATH",
        "witness reset": "did you mean: vaultctl witness accept",
        "witness update": "it is kept up to date by each command and service that names it: --witness PATH",
    ]

    /// Other programs' words for actions that vaultctl does in another way, or not at all.
    private static let habits = [
        "stop": "vaultctl maintain ends with SIGTERM; to end a user's logins: vaultctl login end --user ID",
        "restart": "restart the service that runs vaultctl maintain, such as: systemctl restart tokenvault",
        "unlock": "each command opens the vault for itself: --key-file PATH; a disabled user: vaultctl user enable ID",
        "lock": "no command leaves the vault open; to keep a user out: vaultctl user disable ID",
        "close": "no command leaves the vault open; to keep a user out: vaultctl user disable ID",
        "config": "settings are options, variables or a file: vaultctl help options",
        "set": "settings are options, variables or a file: vaultctl help options",
        "settings": "settings are options, variables or a file: vaultctl help options",
        "env": "variables are listed with their options: vaultctl help options",
        "encrypt":
            "everything secret in a vault is sealed; a backup for one recipient: vaultctl backup create --for age1…",
        "decrypt": "to get a user's access token: vaultctl token get --user ID --reveal",
        "secrets": "to get a user's access token: vaultctl token get --user ID --reveal",
        "secret": "to get a user's access token: vaultctl token get --user ID --reveal",
        "whoami": "vaultctl itself has no log-in; a user's logins: vaultctl login list --user ID",
        "find": "to find logins: vaultctl login list --user ID, --label TEXT or --state STATE",
        "search": "to find logins: vaultctl login list --user ID, --label TEXT or --state STATE",
        "grep": "to find logins: vaultctl login list --user ID, --label TEXT or --state STATE",
        "count": "did you mean: vaultctl login list --count, or vaultctl user list --count",
        "copy": "to copy a vault in use: vaultctl backup create DIRECTORY",
        "cp": "to copy a vault in use: vaultctl backup create DIRECTORY",
        "clone": "to copy a vault in use: vaultctl backup create DIRECTORY",
        "snapshot": "to copy a vault in use: vaultctl backup create DIRECTORY",
        "mv": "to move everything to another vault: vaultctl move run TARGET",
        "repair": "vaultctl doctor finds problems, and suggests what to do",
        "fix": "vaultctl doctor finds problems, and suggests what to do",
        "discover": "a provider is discovered when it is added: vaultctl provider add NAME --issuer URL --client-id ID",
        "metrics": "metrics are written by: vaultctl maintain --metrics-file FILE",
        "prometheus": "metrics are written by: vaultctl maintain --metrics-file FILE",
        "webhook": "events go to an URL by: vaultctl events --follow --post URL --signing-key-file FILE",
        "notify": "events go to an URL by: vaultctl events --follow --post URL --signing-key-file FILE",
        "docs": "the manual: man tokenvault-vaultctl; a command's help: vaultctl COMMAND --help",
        "man": "the manual: man tokenvault-vaultctl; a command's help: vaultctl COMMAND --help",
        "use": "a vault is named by its option: --vault PATH",
        "switch": "a vault is named by its option: --vault PATH",
        "connect": "a vault is named by its option: --vault PATH",
        "attach": "a vault is named by its option: --vault PATH",
        "mount": "a vault is named by its option: --vault PATH",
        "seal": "no command leaves the vault open; to keep a user out: vaultctl user disable ID",
        "unseal": "each command opens the vault for itself: --key-file PATH",
        "forget":
            "a user is erased by: vaultctl user erase ID; a destroyed backup is forgotten by: vaultctl backup forget",
        "load": "logins of another system: vaultctl import run SOURCE; a backup: vaultctl backup restore BACKUP TARGET",
        "ingest": "logins of another system: vaultctl import run SOURCE",
        "diff": "what differs from another system: vaultctl import compare SOURCE; what a migration would do: vaultctl "
            + "migrate plan",
        "passwd": "a key or a passphrase is added, and then an old one removed: vaultctl key add, vaultctl key remove",
        "vaultctl": "leave the second vaultctl out",
    ]

    /// The other way to do it, if there is one.
    ///
    /// - Parameter isClear: whether the words resemble those of a command.
    private static func other(_ words: [String], isClear: Bool) -> String? {
        guard words.count > 1 else { return words.first.flatMap { habits[$0.lowercased()] } }
        if let other = elsewhere[words.prefix(2).joined(separator: " ").lowercased()] { return other }
        // `stop login ID` has its words in another order; in `unlock app.vault` the second word is a name.
        let isName = words[0] == "vaultctl" || CommandSuggestions([words[1]]).all.isEmpty
        return isName || !isClear ? habits[words[0].lowercased()] : nil
    }

    private static func unknown(
        _ name: String, of path: String, _ known: [any ParsableCommand.Type], _ arguments: [String]
    ) -> Failure {
        let words = arguments.drop { $0 == "help" }.prefix { !$0.hasPrefix("-") }
        var meant = CommandSuggestions(Array(words)).all
        // `user alice` probably means to show that user.
        let shown = ["vaultctl user": "ID", "vaultctl login": "ID", "vaultctl provider": "NAME"]
        if words.count == 1, EditDistance.between("help", name) <= 2 || ["vaultctl", "commands"].contains(name) {
            meant = ["--help"]
        }
        if meant.isEmpty, arguments.first != "help", words.count == 2, let what = shown[path] {
            meant = ["\(path.dropFirst("vaultctl ".count)) show \(what)"]
            // `login acme`, `login alice`
            if path == "vaultctl login" { meant.insert("login begin --user ID --provider NAME", at: 0) }
        }
        if words.first.map({ $0.lowercased().hasPrefix("completion") }) == true {
            meant = ["--generate-completion-script bash (or zsh, fish)"]
        }
        var hints = meant.isEmpty ? [] : ["did you mean: " + meant.map { "vaultctl \($0)" }.joined(separator: ", or ")]
        if let other = other(Array(words), isClear: !meant.isEmpty) {
            hints = [other]
        } else if meant.isEmpty, path != "vaultctl", !known.isEmpty {
            hints = ["its commands are: " + known.compactMap { $0.configuration.commandName }.joined(separator: ", ")]
        }
        if name.isEmpty { hints.insert("a word is empty: in a script, check that its variable is set", at: 0) }
        let sentence = "\(path) has no command '\(Printable.shortened(name))'"
        return Failure(
            .usage, SecretArguments.redact(sentence, arguments: arguments),
            hints: hints + ["\(path) --help lists all \(known.isEmpty ? "options" : "commands")"])
    }
}

/// All commands.
enum CommandTree {
    /// The command with these names; nil if there is none.
    static func command(_ names: [String]) -> (any ParsableCommand.Type)? {
        var command: any ParsableCommand.Type = RootCommand.self
        for name in names {
            let next = command.configuration.subcommands.first { $0.configuration.commandName == name }
            guard let next else { return nil }
            command = next
        }
        return command
    }

    /// The names of the commands that have no subcommands: `["login", "list"]`.
    static let leaves = leaves(of: RootCommand.self, [])

    private static func leaves(of command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        let below = command.configuration.subcommands
        guard !below.isEmpty else { return [path] }
        return below.flatMap { leaves(of: $0, path + [$0.configuration.commandName ?? ""]) }
    }
}
