import ArgumentParser
import OAuthClient

/// The commands that unknown words may mean: in another order, in capitals, joined by a hyphen, in the plural, under
/// other programs' names, or misspelt.
struct CommandSuggestions {
    /// As typed, the most likely first.
    let all: [String]

    init(_ typed: [String]) {
        let words = typed.prefix(3).map { Self.american($0.lowercased()) }
        // `get logins`
        if words.count > 1, Self.likeness("show", words[0]) != nil, words[1].hasSuffix("s"),
            CommandTree.command([String(words[1].dropLast()), "list"]) != nil, CommandTree.command([words[0]]) == nil
        {
            all = [words[1].dropLast() + " list"]
            return
        }
        if let usual = Self.usual(typed) {
            all = [usual]
            return
        }
        let readings = Self.readings(of: words)
        let rank = { (readings: [[String]]) in
            CommandTree.leaves.compactMap { path -> (name: String, score: Int)? in
                let score = Self.spellings(of: path).flatMap { spelling in
                    readings.compactMap { Self.score(spelling.path, $0).map { $0 + spelling.more } }
                }.max()
                return score.map { (path.joined(separator: " "), $0) }
            }
        }
        var scored = rank(readings)
        // `test acme`: the verb itself counts for more than another program's name for a command.
        if words.count > 1, scored.allSatisfy({ !$0.name.contains(" ") && $0.score < 85 }),
            CommandTree.command([words[0]]) == nil
        {
            let exact = rank([[words[0]]]).filter { $0.name.hasSuffix(" \(words[0])") }
            if !exact.isEmpty { scored = exact }
        }
        // `logout alice`, `lease revoke ID`: one of the words is the action.
        if scored.isEmpty, words.count > 1, CommandTree.command([words[0]]) == nil {
            scored = rank([[words[0]]])
            if scored.isEmpty, CommandTree.command([words[1]])?.runsByItself ?? true {
                scored = rank([[words[1]]])
                // `remote add` could belong to any noun.
                if scored.filter({ $0.score == scored.map(\.score).max() }).count > 2 { scored = [] }
            }
        }
        let best = scored.map(\.score).max() ?? 0
        let profile = typed.lazy.map { $0.lowercased() }.first { word in
            ProviderProfile.shipped.contains { $0.name == word }
        }
        all = scored.filter { $0.score == best }.prefix(4).map { name, _ in
            name == "provider profiles" ? ([name] + (profile.map { [$0] } ?? [])).joined(separator: " ") : name
        }
    }

    /// A command that a group runs by itself may be named, and the first or the second of three names left out. All
    /// three count for more than two of them.
    private static func spellings(of path: [String]) -> [(path: [String], more: Int)] {
        let named = CommandTree.command(path)?.running.configuration.commandName
        let paths = [path] + (named == path.last ? [] : [path + [named ?? ""]])
        return paths.flatMap { path in
            path.count > 2
                ? [(path, 20), (Array(path.dropFirst()), -5), ([path[0]] + path.dropFirst(2), -25)] : [(path, 0)]
        }
    }

    /// Whether a word after a group is a command that the group may be thought to have.
    static func isVerb(_ word: String, of group: any ParsableCommand.Type) -> Bool {
        let word = word.lowercased()
        return word == "help" || synonyms.contains { $0.key == word || $0.value.contains(word) }
            || group.configuration.subcommands.contains {
                likeness($0.configuration.commandName ?? "", word) != nil
            }
    }

    /// `initialise`: commands and their synonyms have a z.
    private static func american(_ word: String) -> String {
        word.hasSuffix("ise") ? String(word.dropLast(3)) + "ize" : word
    }

    /// The words as typed, and their possible readings.
    private static func readings(of words: [String]) -> [[String]] {
        // `login-list` is two words; `take-over` is one.
        var readings = [words]
        // `'$ vaultctl login list --json'` in one pair of quotation marks.
        if let first = words.first, first.contains(" ") {
            let parts = first.split(separator: " ").map(String.init).drop { ["$", "#", "vaultctl"].contains($0) }
            readings.append(parts.prefix { !$0.hasPrefix("-") } + words.dropFirst())
        }
        if let first = words.first, first.contains(where: { "-_:./ ".contains($0) }) {
            readings.append(first.split { "-_:./ ".contains($0) }.map(String.init) + words.dropFirst())
        }
        // `loginlist`
        if let first = words.first, let noun = nouns.first(where: { first.hasPrefix($0) && first.count > $0.count + 1 })
        {
            readings.append([noun, String(first.dropFirst(noun.count))] + words.dropFirst())
        }
        // `delete login/ID`, and `login/ID` alone.
        if words.count > 1, let slash = words[1].firstIndex(of: "/") {
            readings.append([words[0], String(words[1][..<slash])])
        } else if words.count == 1, let slash = words[0].firstIndex(of: "/") {
            readings.append([String(words[0][..<slash]), "show"])
        }
        return readings
    }

    private static let nouns = Set(CommandTree.leaves.filter { $0.count > 1 }.map { $0[0] })

    /// How well the words fit, 0 to 100; nil if not at all. Each word of the command must match a typed one.
    private static func score(_ path: [String], _ words: [String]) -> Int? {
        guard let first = words.first else { return nil }
        // A lone verb could belong to many nouns, and a lone noun means its list.
        if words.count == 1, path.count == 2 {
            if path[1] == "list", let noun = likeness(path[0], first), noun >= 5 { return noun * 5 }
            return likeness(path[1], first).flatMap { $0 >= 8 ? $0 * 4 : nil }
        }
        guard path.count > 1 else {
            // `show status`: the verb adds nothing.
            if words.count > 1, words[1] == path[0], CommandTree.command([first]) == nil,
                likeness("show", first) != nil || likeness("list", first) != nil || likeness("run", first) != nil
            {
                return 85
            }
            guard words.count == 1 || CommandTree.command([first]) == nil else { return nil }
            return likeness(path[0], first).map { $0 * 9 }
        }
        var (left, total, places) = (Array(words.prefix(3).enumerated()), 0, [Int]())
        for name in path {
            let ranked = left.compactMap { word in likeness(name, word.element).map { (word.offset, $0) } }
            guard let best = ranked.max(by: { $0.1 < $1.1 }) else { return nil }
            total += best.1
            places.append(best.0)
            left.removeAll { $0.offset == best.0 }
        }
        // The first typed word must match, unless it is a name.
        guard places.contains(0) else { return nil }
        return total * 10 / path.count - (places == places.sorted() ? 0 : 5)
    }

    /// From 10 for the same word to 4 for a similar one; nil if it is another.
    private static func likeness(_ name: String, _ word: String) -> Int? {
        if name == word { return 10 }
        // `use app.vault` is not the beginning of `user`.
        if word == "use" { return nil }
        if word == name + "s" || name == word + "s" { return 9 }
        if let others = synonyms[name], others.contains(word) || others.contains(where: { $0 + "s" == word }) {
            return 8
        }
        if word.count >= 3, name.hasPrefix(word) { return 7 }
        let distance = EditDistance.between(name, word)
        // What destroys something is not suggested for a word that only looks a little like it: `move` for `remove`.
        guard distance <= 1 || !destructive.contains(name) else { return nil }
        // `upp` is close to `up`, and `us` is not.
        let isLonger = word.hasPrefix(name) && word.count == name.count + 1
        guard distance <= (name.count < 6 ? 1 : 2), distance < name.count - 1 || isLonger, distance < word.count
        else { return nil }
        return 6 - distance
    }

    static let destructive: Set = [
        "abort", "delete", "disable", "discard", "end", "erase", "forget", "prune", "remove", "revoke", "terminate",
    ]

    /// Other programs' names for them.
    private static let synonyms: [String: [String]] = [
        "add": ["create", "new", "make", "insert", "import", "register", "generate", "gen"],
        "create": ["make", "mk", "new", "add", "run", "now", "take", "start", "save"],
        "remove": ["rm", "delete", "del", "drop", "unset", "forget", "destroy", "uninstall", "erase"],
        "erase": ["rm", "delete", "del", "remove", "destroy", "purge", "wipe", "forget", "drop"],
        "discard": ["rm", "delete", "remove", "drop"], "forget": ["rm", "delete", "remove", "drop", "del"],
        "list": ["ls", "all", "index", "dir", "ll", "log", "history", "show"],
        "status": ["state", "info", "stat", "overview", "ps", "health"],
        "show": ["get", "info", "describe", "view", "cat", "inspect", "display", "details", "print", "read"],
        "get": ["show", "print", "fetch", "reveal", "read", "access"],
        "update": ["edit", "set", "change", "modify", "patch", "rename", "alter", "put", "apply", "write"],
        "revoke": ["logout", "log-out", "signout", "end", "kill", "cancel"], "end": ["kill", "stop", "logout"],
        "open": ["new", "login", "start", "browser", "signin", "sign-in"], "refresh": ["renew"],
        "begin": ["start", "init", "authorize", "new"], "complete": ["finish", "callback", "exchange"],
        "verify": ["check", "validate", "test", "fsck"],
        "test": ["check", "verify", "prove", "try", "ping", "validate"],
        "doctor": ["check", "diagnose", "health", "healthcheck", "fsck"],
        "init": ["create", "setup", "new", "initialize"],
        "restore": ["recover", "rollback"], "prune": ["clean", "cleanup", "gc", "trim", "purge", "clear"],
        "disable": ["block", "lock", "suspend", "deactivate", "ban"],
        "enable": ["unblock", "unlock", "activate", "reactivate", "unban", "allow"],
        "up": ["run", "apply", "upgrade", "migrate", "latest"],
        "run": ["start", "go", "file"], "abort": ["cancel", "stop"],
        "retry": ["run", "flush", "send"],
        "accept": ["confirm", "approve", "release", "take", "ok"], "hold": ["freeze", "stop", "pause"],
        "export": ["dump", "save"], "import": ["load"], "version": ["about", "ver"],
        "maintain": ["daemon", "serve", "scheduler", "worker", "run", "start", "maintenance"],
        "events": ["log", "logs", "watch", "tail", "history"], "audit": ["log", "logs", "history", "trail", "journal"],
        "request": ["curl", "http", "call", "fetch", "api"], "move": ["mv", "transfer"],
        "report": ["dying", "expiring"],
        "user": ["account", "person"], "provider": ["idp", "issuer", "client", "connection"],
        "login": ["session", "grant", "log-in", "logon", "signin", "token", "auth"],
        "key": ["slot", "keyslot", "keys"],
        "backup": ["snapshot", "copy"], "outbox": ["queue", "revocation", "pending"], "rotate": ["rotation", "reseal"],
        "tenant": ["org", "organization", "customer"], "damage": ["damaged", "quarantine", "broken"],
        "migrate": ["migration", "upgrade", "schema"], "profiles": ["profile", "templates"],
        "plan": ["preview"],
        "salvage": ["rescue", "recover"], "revive": ["resurrect", "undelete", "restore"],
    ]

    /// A noun with the usual argument of its main command: `backup /mnt/backup`.
    private static func usual(_ typed: [String]) -> String? {
        let making: Set = ["add", "create", "new", "make"]
        switch (typed.first?.lowercased(), typed.dropFirst().first?.lowercased()) {
        case ("user", let verb?) where making.contains(verb), (let verb?, "user") where making.contains(verb):
            return "login begin --user ID --provider NAME"
        case (let noun?, let verb)
        where signIns.contains(noun) && (verb.map { $0 == "login" || signIns.contains($0) } ?? true):
            return "login begin --user ID --provider NAME"
        case (let verb?, nil) where verb.hasSuffix("access-token"), (_, let verb?) where verb.hasSuffix("access-token"):
            return "token get --user ID --reveal"
        case (let verb?, "vault") where making.contains(verb): return "init --vault PATH --key-file PATH"
        case (let verb?, let name?) where making.contains(verb) && name.hasSuffix(".vault"):
            return "init --vault \(Printable.argument(typed[1])) --key-file PATH"
        default: break
        }
        if let first = typed.first, let joined = first.firstIndex(where: { "-_:".contains($0) }) {
            // `import-csv x.csv`
            return usual([String(first[..<joined]), String(first[first.index(after: joined)...])] + typed.dropFirst())
        }
        if typed.count > 1, typed[0].lowercased() == "import", forms.contains(typed[1].lowercased()) {
            return "import run \(typed.count > 2 ? Printable.shortened(typed[2], to: 200) : "SOURCE")"
        }
        guard let noun = typed.first?.lowercased(), typed.count > 1, let form = usualCommands[noun],
            let command = CommandTree.command([noun]),
            !command.configuration.subcommands.contains(where: {
                likeness($0.configuration.commandName ?? "", typed[1].lowercased()) != nil
            })
        else { return nil }
        let isPath = typed[1].contains("/") || typed[1].contains(".") || FileKind(typed[1]) != nil
        // An id, `latest`, or `BACKUP` as in the manual; `undo` is a verb.
        let isName = ["latest", "newest", "last"].contains(typed[1]) || typed[1].contains { !$0.isLowercase }
        guard isPath || form.isAlways && isName else { return nil }
        return form.text.replacing("…", with: Printable.shortened(typed[1], to: 200))
    }

    /// What other programs call their log-in.
    private static let signIns: Set = ["auth", "signin", "sign-in", "log-in", "logon", "authenticate", "authorize"]

    /// The import recognises these formats.
    private static let forms = ["csv", "tsv", "json", "jsonl", "sqlite", "sql", "db", "dump", "file"]

    private static let usualCommands: [String: (text: String, isAlways: Bool)] = [
        "backup": ("backup create …", false), "import": ("import run …", false), "move": ("move run …", false),
        "restore": ("backup restore … TARGET", true),
    ]
}
