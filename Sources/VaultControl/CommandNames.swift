import ArgumentParser

/// The commands that a command line names, and that `vaultctl help …` asks for. For an unknown command the parser
/// reports a superfluous argument, blames a later option, or prints the help of the last known command.
enum CommandNames {
    /// `login help` asks for the help of `login`, which has no such command, and `login help list` for that of a command.
    static func helpFirst(_ arguments: [String]) -> [String] {
        // `help help`
        if arguments.starts(with: ["help", "help"]) { return Array(arguments.dropFirst()) }
        // `--help login add`
        if let first = arguments.first, ["--help", "-h"].contains(first), arguments.count > 1,
            CommandTree.command(Array(arguments.dropFirst())) != nil
        {
            return ["help"] + arguments.dropFirst()
        }
        guard let index = arguments.firstIndex(of: "help"), index > 0,
            let command = CommandTree.command(Array(arguments[..<index])), command.isGroup
        else { return arguments }
        return ["help"] + arguments[..<index] + arguments[(index + 1)...]
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

    /// Refuses a noun alone, whose help a script would take for success. `vaultctl` alone prints its help.
    static func requireVerb(of command: any ParsableCommand.Type, _ arguments: [String]) throws(Failure) {
        guard command.isGroup, command != RootCommand.self else { return }
        let path = (["vaultctl"] + arguments.prefix { !$0.hasPrefix("-") }).joined(separator: " ")
        throw Failure(
            .usage, "a command is missing after \(path)",
            hints: [list(command.configuration.subcommands), "\(path) --help lists all commands"])
    }

    private static func list(_ commands: [any ParsableCommand.Type]) -> String {
        "its commands are: " + commands.compactMap { $0.configuration.commandName }.joined(separator: ", ")
    }

    private static let elsewhere = [
        "audit search": "filter the log: vaultctl audit list --user ID, --login ID, --kind KIND, --since 2h",
        "audit tail": "follow the log: vaultctl audit list --follow",
        "backup info": "look into a backup: vaultctl backup verify BACKUP; all of them: vaultctl backup list",
        "backup show": "look into a backup: vaultctl backup verify BACKUP; all of them: vaultctl backup list",
        "backup prune": "backups are kept and removed by: vaultctl maintain --backup-dir DIRECTORY --keep 7d,5w",
        "backup schedule": "backups on a schedule: vaultctl maintain --backup-every 6h --backup-dir DIRECTORY",
        "import list": "did you mean: vaultctl import status",
        "key export":
            "a copy of the key file opens the vault, too; a key of its own: vaultctl key add --new-key-file PATH",
        "key backup":
            "a copy of the key file opens the vault, too; a key of its own: vaultctl key add --new-key-file PATH",
        "key rename": "a slot's label stays: add the key again with --label, and remove the old slot",
        "login history": "what has happened to a login: vaultctl audit list --login ID",
        "login import": "logins of another system: vaultctl import run SOURCE",
        "login test": "what comes next for a login: vaultctl login show ID; to renew it: vaultctl login refresh ID",
        "tenant add": "a tenant is there once a provider or a login is added with --tenant NAME",
        "tenant create": "a tenant is there once a provider or a login is added with --tenant NAME",
        "migrate rollback": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "migrate undo": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "migrate revert": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "migrate down": "there is no way back but a copy from before: vaultctl migrate status lists them",
        "login count": "did you mean: vaultctl login list --count",
        "user count": "did you mean: vaultctl user list --count",
        "witness add": "did you mean: vaultctl witness begin",
        "witness create": "did you mean: vaultctl witness begin",
        "login revoke-all": "end several logins: vaultctl login end --user ID, or --provider NAME",
        "login remove-all": "end several logins: vaultctl login end --by remove --user ID, or --provider NAME",
        "login end-all": "end several logins: vaultctl login end --user ID, or --provider NAME",
        "user logout": "end the user's logins: vaultctl login end --user ID",
        "user log-out": "end the user's logins: vaultctl login end --user ID",
        "user revoke": "end the user's logins: vaultctl login end --user ID",
        "user rename":
            "a user's id stays: log the user in under the new one: vaultctl login begin --user ID --provider NAME",
        "provider disable": "a provider cannot be switched off; to end its logins: vaultctl login end --provider NAME",
        "provider enable":
            "a provider that was stopped because it ended logins is resumed with: vaultctl provider accept-deaths NAME",
        "provider token":
            "a user's token: vaultctl token get --user ID --provider NAME --reveal; the client's own: vaultctl token "
            + "client NAME",
        "login move": "a login moves with its vault: vaultctl move run TARGET",
        "login transfer": "a login moves with its vault: vaultctl move run TARGET",
        "login copy": "a refresh token has one home: a login moves with its vault: vaultctl move run TARGET",
        "login label": "a label is set by: vaultctl login update LOGIN --label TEXT",
        "login rename": "a label is set by: vaultctl login update LOGIN --label TEXT",
        "token verify": "what is known of a token: vaultctl token get --user ID, without --reveal",
        "token check": "what is known of a token: vaultctl token get --user ID, without --reveal",
        "token test": "what is known of a token: vaultctl token get --user ID, without --reveal",
        "token status": "what is known of a token: vaultctl token get --user ID, without --reveal",
        "login status": "did you mean: vaultctl login show ID",
        "login state": "did you mean: vaultctl login show ID",
        "user status": "did you mean: vaultctl user show ID",
        "provider status": "did you mean: vaultctl provider show NAME",
        "tenant status": "did you mean: vaultctl tenant list",
        "outbox status": "did you mean: vaultctl outbox list",
        "outbox show": "did you mean: vaultctl outbox list",
        "damage check": "did you mean: vaultctl damage list",
        "damage status": "did you mean: vaultctl damage list",
        "damage verify": "did you mean: vaultctl damage list",
        "key status": "did you mean: vaultctl key list",
        "backup status": "did you mean: vaultctl backup list",
        "witness verify": "did you mean: vaultctl witness show",
        "login hold": "logins are held by: vaultctl restore hold, and by an export to another system",
        "login unhold": "held logins are released by: vaultctl restore accept, or vaultctl import accept",
        "login release": "held logins are released by: vaultctl restore accept, or vaultctl import accept",
        "key change-passphrase":
            "add the new one, and remove the old slot: vaultctl key add --new-passphrase-file PATH; key remove SLOT",
        "key passphrase":
            "add the new one, and remove the old slot: vaultctl key add --new-passphrase-file PATH; key remove SLOT",
        "token new": "to renew a login's token: vaultctl login refresh LOGIN; for a new login: vaultctl login begin",
        "user unlink": "to end a user's logins: vaultctl login end --user ID --provider NAME",
        "user disconnect": "to end a user's logins: vaultctl login end --user ID --provider NAME",
        "login reconnect": "to log the user in again into the same login: vaultctl login open --into LOGIN",
        "login renew": "did you mean: vaultctl login refresh LOGIN",
        "login pending": "log-ins that have begun are not listed: they end by themselves",
        "provider validate":
            "profiles in a directory: vaultctl provider profiles --dir DIRECTORY; a provider in the vault: vaultctl "
            + "provider test NAME",
        "audit watch": "follow the log: vaultctl audit list --follow",
        "audit follow": "follow the log: vaultctl audit list --follow",
        "audit rotate":
            "old rows are removed by: vaultctl audit prune --keep 90d; its key is replaced by: vaultctl key "
            + "rotate --audit",
        "provider move": "a provider moves with its vault: vaultctl move run TARGET",
        "key move": "a key opens one vault; another one for it: vaultctl key add",
        "move login": "a login moves with its vault: vaultctl move run TARGET",
        "move provider": "a provider moves with its vault: vaultctl move run TARGET",
        "move key": "a key opens one vault; another one for it: vaultctl key add",
        "move resume": "an interrupted move is continued with the same command: vaultctl move run TARGET",
        "move continue": "an interrupted move is continued with the same command: vaultctl move run TARGET",
        "token move": "a login moves with its vault: vaultctl move run TARGET",
        "token delete": "a token ends with its login: vaultctl login revoke LOGIN",
        "token remove": "a token ends with its login: vaultctl login revoke LOGIN",
        "token revoke": "a token ends with its login: vaultctl login revoke LOGIN",
        "audit delete": "old rows are removed by: vaultctl audit prune --keep 90d",
        "audit remove": "old rows are removed by: vaultctl audit prune --keep 90d",
        "witness delete": "a vault keeps its witness; its path is a setting: --witness PATH",
        "restore delete": "a restored vault stays held until: vaultctl restore accept",
        "restore abort": "a restored vault stays held until: vaultctl restore accept",
        "restore run": "did you mean: vaultctl backup restore BACKUP TARGET",
        "provider registration list": "one provider's: vaultctl provider registration show NAME",
        "provider rename": "a provider keeps its name: its logins have it",
        "provider profiles check": "those in a directory: vaultctl provider profiles --dir DIRECTORY",
        "provider profiles test": "those in a directory: vaultctl provider profiles --dir DIRECTORY",
        "provider profiles validate": "those in a directory: vaultctl provider profiles --dir DIRECTORY",
        "provider profiles verify": "those in a directory: vaultctl provider profiles --dir DIRECTORY",
        "provider profiles add":
            "a profile of your own: vaultctl provider add NAME --client-id ID --profile-file FILE",
        "provider profiles import":
            "of another system's catalogue: vaultctl provider profiles convert --from nango FILE --to DIRECTORY; one of "
            + "your own: vaultctl provider add NAME --client-id ID --profile-file FILE",
        "witness check": "did you mean: vaultctl witness show",
        "witness status": "did you mean: vaultctl witness show",
        "witness remove": "a vault keeps its witness; its path is a setting: --witness PATH",
        "witness reset":
            "to start over, which holds all logins: vaultctl witness accept; to see what differs: vaultctl witness show",
        "witness update": "it is kept up to date by each command and service that names it: --witness PATH",
    ]

    /// Other programs' words for actions that vaultctl does in another way, or not at all.
    private static let habits = [
        "stop": "vaultctl maintain ends with SIGTERM; to end a user's logins: vaultctl login end --user ID",
        "apply": "there is no file of everything: a provider is changed by vaultctl provider update NAME, and an older "
            + "vault made new by vaultctl migrate up",
        "reload": "vaultctl serve reads its policy again on SIGHUP; vaultctl maintain reads nothing again",
        "operator": "no command leaves the vault open; to keep a user out: vaultctl user disable ID",
        "rotate-root": "the root key is replaced by: vaultctl key rotate",
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
        "use": "a vault is named by its option: --vault PATH; a tenant by: --tenant NAME",
        "switch": "a vault is named by its option: --vault PATH",
        "connect":
            "a user is logged in by: vaultctl login begin --user ID --provider NAME; a vault is named by: --vault PATH",
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
        for count in [3, 2] {
            if let other = elsewhere[words.prefix(count).joined(separator: " ").lowercased()] { return other }
        }
        // `stop login ID` has its words in another order; in `unlock app.vault` the second word is a name.
        let isName = words[0] == "vaultctl" || CommandSuggestions([words[1]]).all.isEmpty
        return isName || !isClear ? habits[words[0].lowercased()] : nil
    }

    private static func unknown(
        _ name: String, of path: String, _ known: [any ParsableCommand.Type], _ arguments: [String]
    ) -> Failure {
        let words = arguments.drop { $0 == "help" }.prefix { !$0.hasPrefix("-") }
        var meant = CommandSuggestions(Array(words)).all
        if meant.isEmpty { meant = CommandSuggestions.elsewhere(Array(words)) }
        // `help tokens`
        if arguments.first == "help", words.count == 1, CommandTree.command([String(name.dropLast())]) != nil {
            meant = ["help \(name.dropLast())"]
        } else if arguments.first == "help", words.last == name {
            // `help tokn`, `help login lst`
            let names = known.compactMap { $0.configuration.commandName } + (path == "vaultctl" ? ["options"] : [])
            let near = EditDistance.near(name, among: names)
            if !near.isEmpty { meant = near.map { "help\(path.dropFirst("vaultctl".count)) \($0)" } }
        }
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
            hints = [list(known)]
        }
        if let dash = ParserError.dash([name]) { hints = [dash] }
        if FileKind(name) == .vault {
            let vault = Printable.path(name)
            let next = arguments.drop { $0 != name }.dropFirst().first
            let verb = next.flatMap { next in known.contains { $0.configuration.commandName == next } ? next : nil }
            let command = path == "vaultctl" ? "\(path) \(verb ?? "status") " : verb.map { "\(path) \($0) " } ?? ""
            hints =
                path == "vaultctl move"
                ? [
                    "did you mean: vaultctl move run "
                        + (next.map { "\(Printable.shortened($0)) --vault \(vault)" } ?? vault)
                ]
                : ["a vault is named by its option: \(command)--vault \(vault)"]
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

    /// The names of the commands that can be run: `["login", "list"]`. The command that a group runs by itself has the
    /// group's name.
    static let leaves = leaves(of: RootCommand.self, [])

    private static func leaves(of command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        let below = command.configuration.subcommands.filter { $0 != command.configuration.defaultSubcommand }
        return (command.runsByItself ? [path] : [])
            + below.flatMap { leaves(of: $0, path + [$0.configuration.commandName ?? ""]) }
    }
}

extension ParsableCommand {
    /// Whether other commands follow its name.
    static var isGroup: Bool { !configuration.subcommands.isEmpty }
    /// Whether it does something without another command after its name.
    static var runsByItself: Bool { !isGroup || configuration.defaultSubcommand != nil }
    /// What runs under its name.
    static var running: any ParsableCommand.Type { configuration.defaultSubcommand ?? self }
}
