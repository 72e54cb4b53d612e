/// Options that a command does not have, because it is done in another way.
extension ParserError {
    func elsewhere(_ option: String) -> String? {
        Self.elsewhere["\(words.joined(separator: " ")) \(option)"] ?? Self.elsewhere[option] ?? command(option)
            ?? assignment(option)
    }

    /// `verify --audit` for `audit verify`.
    private func command(_ option: String) -> String? {
        let meant = words + [String(option.drop { $0 == "-" })]
        guard meant.count > 1, option.hasPrefix("--"),
            let path = CommandTree.leaves.first(where: { $0.count > 1 && $0.sorted() == meant.sorted() })
        else { return nil }
        return "did you mean: vaultctl \(path.joined(separator: " "))"
    }

    /// `--set scope=read` for `--scope read`.
    private func assignment(_ option: String) -> String? {
        guard ["--set", "-s", "--option", "--config", "-c"].contains(option), let value = value(of: option),
            let equals = value.firstIndex(of: "="), let command = CommandTree.command(words)
        else { return nil }
        let name = "--\(value[..<equals].lowercased().replacing("_", with: "-"))"
        guard OptionNames.names(of: command.running).contains(name) else { return nil }
        if SecretArguments.isSecret(name) { return "a secret is read from a file: \(name)-file PATH" }
        let rest = String(value[value.index(after: equals)...])
        return "it has an option of its own: \(name) "
            + (SecretArguments.mayBeSecret(rest) ? "VALUE" : Printable.shortened(rest))
    }

    /// `provider test --all`
    func each(_ unknown: (name: String, suggestion: String?)) -> String? {
        guard unknown.name == "--all", unknown.suggestion == nil, let command = CommandTree.command(words) else {
            return nil
        }
        if words.last == "list" { return "it lists all: leave --all out" }
        guard case let places = CommandShape(of: command).positionals, places.count == 1,
            let place = places[0].valueName
        else { return nil }
        return "it takes one <\(place)>: run it for each"
    }

    /// Options of a few other commands: `status --state dead`.
    func another(_ unknown: (name: String, suggestion: String?)) -> String? {
        guard unknown.suggestion == nil, unknown.name.hasPrefix("--"), !words.isEmpty, needless == nil,
            case let others = Self.commands(with: unknown.name), !others.isEmpty
        else { return nil }
        // Many other commands have one.
        if unknown.name == "--dry-run", CommandTree.command(words)?.runsByItself == true {
            return "this command has no dry run: leave --dry-run out"
        }
        // `login update --refresh-token-file` means `token update`. The same word at another noun, and with another verb,
        // is another thing: `--wait` of `key rotate`.
        let same = others.filter { $0.count > 1 && $0.last == words.last }
        let own = same.isEmpty ? others.filter { $0[0] == words[0] } : same
        let shown = words.count > 1 ? own : others
        // `login begin --client-id`: no other noun has it.
        if shown.isEmpty, let setting = ofProvider(unknown.name, others) { return setting }
        guard (1...4).contains(shown.count) else { return nil }
        return "\(unknown.name) is an option of: " + shown.map { $0.joined(separator: " ") }.joined(separator: ", ")
    }

    /// A setting of the provider, typed at a command that names its provider.
    private func ofProvider(_ option: String, _ others: [[String]]) -> String? {
        let settings = others.filter { ["add", "update"].contains($0.last) }
        guard ["login", "token"].contains(words.first), !settings.isEmpty,
            others.allSatisfy({ $0[0] == "provider" }), let command = CommandTree.command(words),
            OptionNames.names(of: command.running).contains("--provider")
        else { return nil }
        return "\(option) is an option of: " + settings.map { $0.joined(separator: " ") }.joined(separator: ", ")
            + "; a login takes it from its provider"
    }

    private static func commands(with option: String) -> [[String]] { commandsByOption[option] ?? [] }

    private static let commandsByOption: [String: [[String]]] = {
        var found: [String: [[String]]] = [:]
        for path in CommandTree.leaves {
            guard let command = CommandTree.command(path) else { continue }
            for name in Set(OptionNames.names(of: command.running)) { found[name, default: []].append(path) }
        }
        return found
    }()

    /// `--shop acme`: each profile has its own variables.
    func variable(_ unknown: (name: String, suggestion: String?)) -> String? {
        let name = unknown.name.drop { $0 == "-" }
        let isKnown = ["audience", "state", "nonce", "timeout", "prompt", "max-age"].contains(name)
        guard !isKnown, !name.contains("-"), Self.commands(with: unknown.name).isEmpty else { return nil }
        guard unknown.suggestion == nil, unknown.name.hasPrefix("--"), let value = value(of: unknown.name),
            !value.hasPrefix("-"), let command = CommandTree.command(words),
            OptionNames.names(of: command).contains("--variable")
        else { return nil }
        let shown = SecretArguments.mayBeSecret(value) ? "VALUE" : Printable.shortened(value)
        return "if the provider's profile wants it of each log-in: --variable \(name)=\(shown)"
    }

    /// Options of another command.
    private static let elsewhere = [
        "--color": "colours are for terminals alone, and not if NO_COLOR is set",
        "--no-color": "colours are for terminals alone, and not if NO_COLOR is set",
        "token get --fresh": "to renew it now: vaultctl login refresh LOGIN",
        "token get --min-ttl": "for how long it must be good: --min-validity 10m",
        "token update --metadata": "values are kept by: vaultctl login update LOGIN --set team=42",
        "login add --metadata": "values are kept by: vaultctl login update LOGIN --set team=42",
        "login add --from-env": "a token is read from a file or standard input: --access-token-file PATH",
        "login list --expires-within": "those that expire before then: --expires-before 24h",
        "login refresh --expired":
            "it takes one login at a time; all that are due are renewed by: vaultctl maintain --once",
        "login remove --revoke": "to end it at the provider, too: vaultctl login revoke LOGIN",
        "login remove --older-than": "several are ended by: vaultctl login end --by remove --state dead --dead-for 30d",
        "login begin --no-pkce": "PKCE is always sent, unless the provider's profile says that it must not be",
        "login begin --callback-url":
            "where the callback goes: --redirect-uri URL; a callback that came: vaultctl login "
            + "complete",
        "login open --print-url": "to open no browser here: --no-browser",
        "login open --wait": "how long to wait for the callback: --timeout 10m",
        "login end --mode": "how they end: --by revoke, remove or terminate",
        "provider add --pkce": "PKCE is always sent, unless the provider's profile says that it must not be",
        "provider update --no-scope": "a field is removed by: --remove scope",
        "outbox retry --force": "without a revocation it tries all that are due; all of them: --all",
        "events --filter": "a kind of event goes with: --event KIND",
        "import run --source": "the source's name goes with its option: --name NAME",
        "request -A": "a header field goes with its option: -H 'User-Agent: NAME'",
        "request --user-agent": "a header field goes with its option: -H 'User-Agent: NAME'",
        "token get --wait": "how long to wait for a renewal: --deadline 5s",
        "token get --timeout": "how long to wait for a renewal: --deadline 5s",
        "login list --filter": "each filter is an option: --user ID, --provider NAME, --state STATE, --label TEXT",
        "--no-dpop": "for logins without a key: --dpop never",
        "--columns": "columns are fixed; to choose some of them: | cut -f1,2, or --json",
        "--fields": "columns are fixed; to choose some of them: | cut -f1,2, or --json",
        "login open --host": "it listens on this machine alone; for a browser elsewhere: vaultctl login begin",
        "login revoke --local": "to end it here, and tell the provider nothing: vaultctl login remove LOGIN",
        "serve --test": "to check a policy, and ask it a question: --check",
        "serve --dry-run": "to check a policy, and ask it a question: --check",
        "--version": "the program's version: vaultctl --version",
        "--reveal": "a token is shown by: vaultctl token get --user ID --reveal",
        "token get --force-refresh": "to renew it now: vaultctl login refresh LOGIN",
        "token get --refresh": "to renew it now: vaultctl login refresh LOGIN",
        "token get --refresh-token": "a refresh token never leaves the vault",
        "token client --audience": "what the server wants to know further: --parameter audience=URL",
        "login begin --audience": "what the server wants to know further: --parameter audience=URL",
        "login begin --state": "the vault makes it, and checks it in the callback: leave it out",
        "login begin --nonce": "the vault makes it, and checks it in the id token: leave it out",
        "login add --id-token-file": "an id token comes with a log-in, and is not added: leave it out",
        "user list --provider": "the logins at a provider: vaultctl login list --provider NAME",
        "events --kind": "a kind of event goes with: --event KIND",
        "verify --all": "it checks everything: leave --all out",
        "verify --repair": "what is damaged, and what can be done: vaultctl damage list",
        "login list -n": "how many: --limit 5",
        "status -f": "what happens: vaultctl events --follow",
        "init --new-key-file": "the file of the new key is named by: --key-file PATH",
        "init --new-passphrase-file": "the new passphrase is read by: --passphrase-file PATH",
        "provider test --client-id": "it tries the client in the vault: vaultctl provider update NAME --client-id ID",
        "token update --label": "a label is set by: vaultctl login update LOGIN --label TEXT",
        "key rekey --new-key-file": "a key is added by: vaultctl key add --new-key-file PATH",
        "doctor --provider": "it checks everything; to try one provider: vaultctl provider test NAME",
        "init --force": "a vault is never overwritten: name the path of a new one",
        "key rotate --root": "it replaces the root key without that",
        "maintain --every": "it renews when something is due; once: --once",
        "migrate up --to": "it goes to the newest version that this vaultctl knows",
        "login complete --callback-file": "a file is read by standard input: --callback-url - <FILE",
        "login complete --callback-url-file": "a file is read by standard input: --callback-url - <FILE",
        "user erase --out": "the certificate is written to: --certificate FILE",
        "user erase --output": "the certificate is written to: --certificate FILE",
        "user erase -o": "the certificate is written to: --certificate FILE",
        "user erase --no-certificate": "without --certificate none is written: leave it out",
        "provider profiles list --provider": "the profile of a provider in the vault: vaultctl provider show NAME",
        "provider profiles list --check": "those in a directory: vaultctl provider profiles --dir DIRECTORY",
        "provider update --name": "a provider keeps its name: its logins have it",
        "migrate up --dry-run": "what it would do: vaultctl migrate plan",
        "provider register --client-id":
            "the server gives the client its id; a client that has one: vaultctl provider add",
        "key test --new-key-file": "the key that is tried is the one that opens: --key-file PATH",
        "login list --login": "to look at one: vaultctl login show LOGIN",
        "login list --id": "to look at one: vaultctl login show LOGIN",
        "login end --login": "one login is ended by: vaultctl login revoke LOGIN, or login remove",
        "login show --reveal": "a token is shown by: vaultctl token get LOGIN --reveal",
        "user list --user": "to look at one: vaultctl user show ID",
        "user list --state": "disabled users alone: --disabled",
        "audit prune --before": "by age: --keep 90d",
        "doctor --check": "it runs all checks; what one of them finds: vaultctl doctor | grep -w CHECK",
        "doctor --fix": "it changes nothing: each finding has a hint",
        "maintain --background": "it stays in the foreground, for systemd to start: man tokenvault-operating",
        "maintain --daemon": "it stays in the foreground, for systemd to start: man tokenvault-operating",
        "maintain --interval": "it renews when something is due; once: --once",
        "key rotate --every": "it is done once; on a schedule: vaultctl maintain --rotate-root-every 30d",
        "events --since": "events go by number, --after or --last; by time: vaultctl audit list --since 2h",
        "import run --provider":
            "the provider of every row, where the source names none: --provider-name NAME; rows of one provider alone: "
            + "--provider-map FILE --mapped-only",
        "import run --format": "the format is recognised; whose store it is: --kind KIND",
        "request --head": "the method goes with its option: -X HEAD",
        "request -I": "the method goes with its option: -X HEAD",
        "request -k": "a server's certificate is always checked; for a private authority: --ca-file FILE",
        "witness begin --file": "a witness is named by its option: --witness PATH",
        "verify --backup": "to check a backup: vaultctl backup verify BACKUP",
        "restore accept --all": "for each provider: --provider NAME; for logins without one: --app",
        "restore hold --provider": "it holds all logins; each provider is released by: vaultctl restore accept",
        "restore status --provider": "it lists every provider",
        "outbox list --provider": "each line names its provider: vaultctl outbox list | grep NAME",
        "outbox retry --provider": "it takes revocations; without any, it tries all that are due",
        "maintain --user": "it renews all logins; one: vaultctl login refresh",
        "maintain --provider": "it renews all logins; one: vaultctl login refresh",
        "export --all": "it exports all: leave --all out",
        "backup create --force": "nothing is overwritten; on the vault's own device: --same-device",
        "export --login": "logins are chosen by: --user ID, or --provider NAME",
        "export --state": "logins are chosen by: --user ID, or --provider NAME",
        "import accept --force": "to accept without proof that the source has stopped: --source-is-gone",
        "import accept --all": "without --probe it accepts all logins of the source",
        "login end --all": "name which: --provider NAME, --user ID or --state STATE",
        "status --user": "a user's logins: vaultctl login list --user ID",
        "status --watch": "what happens: vaultctl events --follow",
        "token client --user": "a user's token: vaultctl token get --user ID",
    ]
}
