import ArgumentParser
import Crypto
import FoundationEssentials
import OAuthClient
import Platform
import TokenVault

/// The key that signs events for a server of the operator.
enum SigningKeyKind: SecretKind {
    static let option = "signing-key"
    static let title = "key that signs requests"
}

struct EventsCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Show what has happened to logins, and follow what happens next.",
        discussion: """
            Shows the last events of the audit log, from every program that uses the vault. With --follow, it keeps \
            running and shows new events, including access tokens that expire. It ends when interrupted, or when its \
            output is closed. With --json, each event is one line.

            vaultctl events --after start --json
            vaultctl events --follow --cursor-file cursor --exec '["/usr/local/bin/on-event"]'
            vaultctl events --follow --cursor-file cursor --post https://app.example/hooks --signing-key-file hook.key

            With --after or --cursor-file, events come from the audit log alone, in order, each with a cursor: where to \
            continue. The cursor file is written after each processed event, so each event comes at least once, even \
            across restarts. --exec runs a program with the event's name as its last argument and the event as JSON on \
            standard input; exit code 0 means that the event is processed. --post sends one signed request for each \
            event; a 2xx means the same. Both are retried until they succeed, while the next event waits. Unless --event \
            selects others, they get refreshFailed, error, recovered, providerStopped, providerResumed, \
            providerDrifted and missed.
            """)

    @Flag(name: .shortAndLong, help: "Keep running, and show events as they happen.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long],
        help: .init("How many past events to show (default: 20; 10 with --follow).", valueName: "number"))
    var last: Int?

    @Option(help: .init("Only those of this login.", valueName: "id"))
    var login: String?

    @Option(name: .shortAndLong, help: .init("Only those of this user.", valueName: "id"))
    var user: String?

    @OptionGroup var tenant: TenantOption

    @Option(
        help: .init(
            "Start after this cursor; start: with the oldest event; now: with new events.", valueName: "cursor"))
    var after: String?

    @Option(
        help: .init(
            "Start at the position in this file, and update it. Without the file: --after, or now.",
            valueName: "path"), completion: .file())
    var cursorFile: String?

    @Option(help: .init("Only events of this name. Repeatable.", valueName: "name"))
    var event: [String] = []

    @Option(help: .init("Run this program for each event: a JSON array.", valueName: "json"))
    var exec: String?

    @Option(help: .init("Send each event to this URL.", valueName: "url"))
    var post: String?

    @OptionGroup var signingKey: SecretOptions<SigningKeyKind>

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let names = [
        "updated", "stateChanged", "refreshFailed", "error", "recovered", "scopeChanged", "willExpire", "expired",
        "refreshTokenWillExpire", "providerStopped", "providerResumed", "providerDrifted",
        "missed",
    ]
    private static let usuallyDelivered: Set<String> = [
        "refreshFailed", "error", "recovered", "providerStopped", "providerResumed", "providerDrifted",
        "missed",
    ]

    func validate() throws {
        if exec != nil, post != nil { throw ValidationError("--exec and --post cannot be combined") }
        if post == nil, signingKey.isGiven { throw ValidationError("a signing key needs --post") }
        if let unknown = event.first(where: { !Self.names.contains($0) }) {
            let near = EditDistance.near(unknown, among: Self.names)
            if !near.isEmpty {
                throw ValidationError("'\(unknown)' is not an event; did you mean \(near.joined(separator: " or "))?")
            }
            throw ValidationError(
                unknown.contains(",")
                    ? "--event names one event: repeat it for each"
                    : "'\(unknown)' is not an event; there are \(Self.names.joined(separator: ", "))")
        }
        if last == 0, !follow { throw ValidationError("--last 0 shows no event: it goes with --follow") }
        if isStored, last != nil { throw ValidationError("--last cannot be combined with a cursor, --exec or --post") }
    }

    /// Whether events come from the vault's record, each with its cursor.
    private var isStored: Bool { after != nil || cursorFile != nil || exec != nil || post != nil }

    private static let mostPast = 100_000

    func run(_ invocation: Invocation) async throws {
        try checkSelection()
        if isStored { return try await deliverStored(invocation) }
        let count = last ?? (follow ? 10 : 20)
        guard (0...Self.mostPast).contains(count) else {
            throw Failure.usage("--last must be between 0 and \(Self.mostPast)", hint: "for example: --last 100")
        }
        try await VaultAccess(global, invocation).open { vault in
            await warnOfNoUser(in: vault, invocation)
            let login = try await chosenLogin(in: vault)
            // First, so that no event is lost between past and new ones.
            let coming = follow ? vault.events(login: login, userId: user.map { tenant.user($0) }) : nil
            let past = try await pastEvents(of: vault, login, count)
            var lines = EventLines(invocation)
            for event in past { try lines.print(event) }
            guard let coming else {
                if past.isEmpty { invocation.hint("there are no events yet") }
                return
            }
            try await print(coming, after: past, lines, invocation)
        }
    }

    private func deliverStored(_ invocation: Invocation) async throws {
        let file = cursorFile.map { CursorFile(path: $0) }
        let kept = try file?.read()
        let given = try after.map { try Self.place($0) }
        let url = try post.map { try Self.target($0) }
        let program = try exec.map {
            let arguments = try ProgramArguments.parse($0, "--exec", example: #"["/usr/local/bin/on-event"]"#)
            do {
                let program = try EventProgram(arguments)
                try program.check()
                return program
            } catch let error as VaultError {
                let isPath = arguments[0].hasPrefix("/")
                throw Failure.usage(
                    "\(error.message) (--exec)",
                    hint: isPath ? error.hint ?? "check --exec" : "name a program by its absolute path")
            }
        }
        guard follow || after != nil || cursorFile != nil else {
            throw Failure.usage(
                "\(exec == nil ? "--post" : "--exec") begins with new events, and without --follow there are none",
                hint: "add --follow, --cursor-file FILE, or --after start")
        }
        let access = VaultAccess(global, invocation)
        try await access.open { vault, reader in
            await warnOfNoUser(in: vault, invocation)
            let key = try url == nil ? nil : Self.key(signingKey.source, &reader)
            let transport = try url == nil ? nil : access.makeTransport()
            var delivery: (any EventDelivery)?
            if let program { delivery = ProgramDelivery(program: program) }
            if let url, let key, let transport {
                delivery = WebhookDelivery(url: url, key: key, transport: transport, now: { Date() })
            }
            let isChosen = delivery == nil || !event.isEmpty
            let login = try await chosenLogin(in: vault)
            if let user, !follow { _ = try await vault.user(tenant.user(user)) }
            let telling = EventDispatch(
                vault: vault, session: login.map { .login($0) } ?? user.map { .user(tenant.user($0)) },
                names: isChosen ? Set(event) : Self.usuallyDelivered, delivery: delivery, file: file, follows: follow,
                invocation: invocation)
            var start = kept ?? given ?? nil
            if let start, try await !vault.has(start) { warn(ofUnknown: start, isKept: kept != nil, invocation) }
            if start == nil { start = try await vault.eventHead() }
            do {
                try await telling.run(from: start ?? .start)
            } catch is CancellationError {
                // Interrupted: unprocessed events come next time.
            } catch {
                await transport?.shutdown()
                throw error
            }
            await transport?.shutdown()
        }
    }

    /// After a restore a program must go on, so this is no error.
    private func warn(ofUnknown cursor: EventCursor, isKept: Bool, _ invocation: Invocation) {
        guard isKept, let cursorFile else {
            return invocation.warn(
                "the audit log has no row of this cursor: it is mistyped, or the vault was put back to an earlier state"
            )
        }
        let file = Printable.path(cursorFile)
        invocation.warn(
            "the audit log has no row of the cursor \(cursor) in \(file), which gets a new one: it is another vault's, "
                + "or the vault was put back to an earlier state")
        invocation.advise("if it is another vault's, put it back: echo \(cursor) > \(file)")
    }

    /// Nil: after all existing events.
    private static func place(_ text: String) throws(Failure) -> EventCursor? {
        if text == "start" { return .start }
        if text == "now" { return nil }
        guard let cursor = EventCursor(text) else {
            throw .usage(
                "\(Printable.named(text)) is not a cursor",
                hint: "use the cursor of an event, or start, or now: vaultctl events --after start --json")
        }
        return cursor
    }

    private static func target(_ text: String) throws(Failure) -> EndpointURL {
        do throws(OAuthValueError) {
            return try EndpointURL(text, allowsInsecureLoopback: true)
        } catch {
            throw .usage(
                error.code == .insecure
                    ? "events go to an https URL only, or to this machine"
                    : "this is not a URL to which events can go",
                hint: "use an https URL without user and fragment: --post https://app.example/hooks")
        }
    }

    private static func key(_ source: SecretSource?, _ reader: inout SecretReader) throws -> SymmetricKey {
        guard let source else {
            throw Failure.usage(
                "a server needs a key to distinguish the vault's events from forged ones",
                hint: "use --signing-key-file PATH")
        }
        let text = try reader.read("Signing key", from: source)
        guard text.utf8.count >= WebhookDelivery.leastKeyLength else {
            throw Failure.usage(
                "the signing key is shorter than \(WebhookDelivery.leastKeyLength) bytes",
                hint: "make one: openssl rand -hex 32 > hook.key")
        }
        return SymmetricKey(data: Array(text.utf8))
    }

    private func checkSelection() throws(Failure) {
        guard tenant.tenant == nil || user != nil else {
            throw .usage("--tenant needs --user", hint: "events of all of a tenant's users cannot be chosen")
        }
        guard let login else { return }
        try LoginSelection.check(login)
        guard user == nil else {
            throw .usage("--login and --user cannot be combined", hint: "use only one of them")
        }
    }

    /// With `--follow` the user may not exist yet, or be misspelt.
    private func warnOfNoUser(in vault: Vault, _ invocation: Invocation) async {
        guard follow, let user else { return }
        do {
            _ = try await vault.user(tenant.user(user))
        } catch let error as VaultError where error.code == .unknownUser {
            invocation.warn("the vault has no user \(Printable.named(user)) yet")
        } catch {
            // A damaged user has events, too.
        }
    }

    private func chosenLogin(in vault: Vault) async throws -> LoginID? {
        guard let login else { return nil }
        let id = try await LoginSelection.id(login, in: vault)
        do { _ = try await vault.login(id) } catch let error as VaultError where error.code == .unknownLogin {
            // The events of a login that was removed are still there.
            guard try await !vault.pastEvents(login: id, userId: nil, limit: 1).isEmpty else {
                throw Failure(.unknownLogin, "no login has the id \(id), and none had")
            }
        } catch is VaultError {
            // A damaged login has events, too.
        }
        return id
    }

    private func pastEvents(of vault: Vault, _ login: LoginID?, _ count: Int) async throws -> [SessionEvent] {
        guard count > 0 else { return [] }
        do {
            return try await vault.pastEvents(login: login, userId: user.map { tenant.user($0) }, limit: count)
        } catch let error as VaultError where follow && error.code == .unknownUser {
            return []
        }
    }

    private func print(
        _ coming: SessionEvents, after past: [SessionEvent], _ lines: EventLines, _ invocation: Invocation
    ) async throws {
        let console = invocation.console
        let telling = Task {
            var lines = lines
            // Events that happened while past ones were being read are in both.
            for await event in coming where !past.contains(event) { try lines.print(event) }
        }
        // The reader may go away while no events happen.
        let watch = Task {
            while !console.hasLostReader { try await Task.sleep(for: .milliseconds(200)) }
            telling.cancel()
        }
        defer { watch.cancel() }
        try await withTaskCancellationHandler {
            try await telling.value
        } onCancel: {
            telling.cancel()
        }
    }
}
