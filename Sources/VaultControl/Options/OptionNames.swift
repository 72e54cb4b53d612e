import ArgumentParser

/// The options of a command, and the most similar one to an unknown option.
enum OptionNames {
    /// The option as typed: the parser reads `-vault` as a group of one-letter options, and reports one of them.
    static func typed(_ reported: String, in arguments: [String]) -> String {
        guard reported.count == 2, reported.hasPrefix("-"), let letter = reported.last else { return reported }
        let typed = arguments.prefix { $0 != "--" }.first { argument in
            argument.count > 2 && argument.hasPrefix("-") && !argument.hasPrefix("--") && argument.contains(letter)
        }
        return typed.map { String($0.prefix { $0 != "=" }) } ?? reported
    }

    /// The intended option, if one is much more similar than the others.
    static func suggestion(for typed: String, of command: any ParsableCommand.Type) -> String? {
        let known = names(of: command)
        if let joined = joined(typed, of: command, known) { return joined }
        let word = bare(typed)
        guard word.count > 1 else {
            let meant = typed == typed.lowercased() ? synonyms[word] : nil
            return (meant ?? []).first { known.contains($0) }
                ?? short[typed.lowercased()].flatMap { known.contains($0) ? $0 : nil }
        }
        if let same = known.first(where: { bare($0) == word }) { return same }
        if let synonym = synonyms[word]?.first(where: { known.contains($0) }) { return synonym }
        // `--va` is the beginning of an option, `--vlt` an abbreviation, `--minimum-validity` an extension, `--vualt` a
        // typo.
        let ranked = known.compactMap { name -> (name: String, rank: Int)? in
            let bare = bare(name)
            let distance = EditDistance.between(bare, word)
            // `--plain` is the beginning of `--plain-to-fd`, and similar to `--again`.
            if word.count > 3, bare.hasPrefix(word) { return (name, 1) }
            if distance <= (word.count < 6 ? 1 : 2) { return (name, distance) }
            // No one types `--all` as the beginning of `--allow-environment-key`.
            guard word.count * 3 >= bare.count else { return nil }
            if bare.hasPrefix(word) || word.hasPrefix(bare) { return (name, 3 + abs(bare.count - word.count)) }
            let isShortened = isSubsequence(word, of: bare) || bare.count > 5 && isSubsequence(bare, of: word)
            // Nothing would be left of `--proxy-credentials-file` in `--profile`.
            guard bare.first == word.first, isShortened, word.count * 2 >= bare.count else { return nil }
            return (name, 20 + abs(bare.count - word.count))
        }
        if let best = ranked.min(by: { ($0.rank, $0.name) < ($1.rank, $1.name) }) { return best.name }
        // `-uann`
        guard !typed.hasPrefix("--"), let long = short[String(typed.prefix(2))], known.contains(long)
        else { return nil }
        return "\(typed.prefix(2)) \(typed.dropFirst(2))"
    }

    /// The options with a value that also have a short name. Listed here, as in ``LeadingOptions``.
    static let short = [
        "-u": "--user", "-p": "--provider", "-n": "--last", "-d": "--data", "-X": "--method", "-H": "--header",
    ]

    /// `-n5`, and `-5` as for `git log` and `head`.
    private static func joined(_ typed: String, of command: any ParsableCommand.Type, _ known: [String]) -> String? {
        guard typed.hasPrefix("-"), !typed.hasPrefix("--") else { return nil }
        let letters = typed.dropFirst().prefix { $0.isLetter }
        let digits = typed.dropFirst(letters.count + 1)
        guard letters.count <= 1, !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }) else {
            return nil
        }
        if letters.isEmpty { return ["--last", "--limit"].first { known.contains($0) }.map { "\($0) \(digits)" } }
        let isKnown = command.helpMessage(includeHidden: true, columns: 400).contains("\n  -\(letters), ")
        return isKnown ? "-\(letters) \(digits)" : nil
    }

    /// The options with two hyphens, as the help lists them.
    static func names(of command: any ParsableCommand.Type) -> [String] {
        var names: [String] = ["--help"]
        for line in command.helpMessage(includeHidden: true, columns: 400).split(separator: "\n") {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("-"), line.hasPrefix(" ") else { continue }
            for part in text.split(whereSeparator: { " ,/".contains($0) }) {
                guard part.hasPrefix("-") else { break }
                if part.hasPrefix("--"), !names.contains(String(part)) { names.append(String(part)) }
            }
        }
        return names
    }

    private static func bare(_ option: String) -> String {
        option.lowercased().filter { $0 != "-" && $0 != "_" && $0 != "." }
    }

    private static func isSubsequence(_ short: String, of long: String) -> Bool {
        var rest = long[...]
        for character in short {
            guard let index = rest.firstIndex(of: character) else { return false }
            rest = rest[rest.index(after: index)...]
        }
        return true
    }

    /// Other programs' names for them.
    private static let synonyms: [String: [String]] = [
        "a": ["--all"], "database": ["--vault"], "db": ["--vault"],
        "file": ["--new-key-file", "--access-token-file", "--out", "--vault"],
        "path": ["--vault"],
        "vaultfile": ["--vault"], "vaultpath": ["--vault"], "store": ["--vault"],
        "f": ["--follow", "--yes", "--vault"],
        "keypath": ["--key-file"], "keyring": ["--key-file"], "k": ["--key-file"], "unlock": ["--key-file"],
        "format": ["--jsonl", "--json"],
        "output": ["--json"], "o": ["--json"], "j": ["--json"], "outputjson": ["--json"],
        "debug": ["--verbose"], "trace": ["--verbose"], "loud": ["--verbose"], "silent": ["--quiet"], "s": ["--quiet"],
        "force": ["--yes"], "assumeyes": ["--yes"], "noconfirm": ["--yes"], "confirm": ["--yes"],
        "simulate": ["--dry-run"], "dry": ["--dry-run"], "n": ["--dry-run"], "whatif": ["--dry-run"],
        "plan": ["--dry-run"], "check": ["--dry-run"], "noop": ["--dry-run"], "pretend": ["--dry-run"],
        "userid": ["--user"], "uid": ["--user"], "username": ["--user"], "account": ["--user"], "who": ["--user"],
        "idp": ["--provider"], "providername": ["--provider"], "server": ["--provider", "--issuer"],
        "max": ["--limit", "--last"], "top": ["--limit", "--last"], "count": ["--limit", "--last"],
        "tail": ["--last"], "lines": ["--last"], "limit": ["--last"], "last": ["--limit"], "head": ["--limit"],
        "from": ["--since", "--after"], "after": ["--since"], "start": ["--since"], "begin": ["--since"],
        "to": ["--until"], "before": ["--until"], "end": ["--until"], "watch": ["--follow"], "tailf": ["--follow"],
        "ttl": ["--expires-in"], "expires": ["--expires-in", "--expires-before"], "expiry": ["--expires-at"],
        "lifetime": ["--expires-in"], "secretexpires": ["--client-secret-expires"],
        "secretexpiry": ["--client-secret-expires"], "validfor": ["--min-validity", "--expires-in"],
        "type": ["--kind", "--event"],
        "status": ["--state"], "filter": ["--state"], "name": ["--label"], "title": ["--label"], "tag": ["--label"],
        "show": ["--reveal"], "print": ["--reveal"], "plain": ["--reveal"], "raw": ["--reveal"],
        "dest": ["--backup-dir"], "dir": ["--backup-dir"], "org": ["--tenant"], "customer": ["--tenant"],
        "namespace": ["--tenant"], "url": ["--issuer", "--callback-url"], "secret": ["--client-secret-file"],
        "cacert": ["--ca-file"],
        "cafile": ["--ca-file"], "ca": ["--ca-file"], "cert": ["--client-certificate"], "h": ["--help"],
        "id": ["--login", "--client-id"], "client": ["--client-id"],
        "scopes": ["--scope"], "redirecturl": ["--redirect-uri"], "callback": ["--redirect-uri"],
        "configfile": ["--config"], "settings": ["--config"], "recipients": ["--for", "--recipient"],
        "recipient": ["--for"], "encrypt": ["--for", "--recipient"], "older": ["--older-than", "--keep"],
        "olderthan": ["--keep"], "days": ["--dying", "--keep"],
        "authmethod": ["--client-auth"], "clientauthmethod": ["--client-auth"], "tokenfile": ["--access-token-file"],
        "discovery": ["--issuer"], "discoveryurl": ["--issuer"], "unset": ["--remove"], "offset": ["--after"],
        "page": ["--after"], "long": ["--json"], "fields": ["--json"],
        "replace": ["--force"], "metadata": ["--set"], "insecure": ["--allow-insecure-loopback"],
        "loglevel": ["--verbose"], "port": ["--socket"], "listen": ["--socket"], "bind": ["--socket"],
        "address": ["--socket"], "host": ["--socket"],
        "maxtime": ["--timeout"], "verify": ["--test"], "short": ["--brief"], "within": ["--dying"], "in": ["--dying"],
        "template": ["--profile"], "preset": ["--profile"], "secretfile": ["--client-secret-file"],
        "passwordfile": ["--passphrase-file"],
        "password": ["--passphrase-file"],
        "agerecipient": ["--recipient", "--for"],
    ]
}
