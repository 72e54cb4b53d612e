import ArgumentParser
import TokenVault

struct EventsCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Show what has happened to logins, and follow what happens next.",
        discussion: """
            Shows the last events of the audit log, from every program that uses the vault. With --follow, it keeps \
            running and shows new events, including access tokens that expire. It ends when interrupted, or when its \
            output is closed. With --json, each event is one line.
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

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let mostPast = 100_000

    func run(_ invocation: Invocation) async throws {
        let login = try chosenLogin
        let count = last ?? (follow ? 10 : 20)
        guard (0...Self.mostPast).contains(count) else {
            throw Failure.usage("--last must be between 0 and \(Self.mostPast)", hint: "for example: --last 100")
        }
        try await VaultAccess(global, invocation).open { vault in
            // First, so that nothing is lost between what was and what comes.
            let coming = follow ? vault.events(login: login, userId: user) : nil
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

    private var chosenLogin: LoginID? {
        get throws(Failure) {
            guard let text = login else { return nil }
            let id = try LoginSelection.id(text)
            guard user == nil else {
                throw .usage("--login and --user cannot be combined", hint: "use only one of them")
            }
            return id
        }
    }

    private func pastEvents(of vault: Vault, _ login: LoginID?, _ count: Int) async throws -> [SessionEvent] {
        guard count > 0 else { return [] }
        do {
            return try await vault.pastEvents(login: login, userId: user, limit: count)
        } catch let error as VaultError where follow && error.code == .unknownUser {
            // He may be waited for.
            return []
        }
    }

    private func print(
        _ coming: SessionEvents, after past: [SessionEvent], _ lines: EventLines, _ invocation: Invocation
    ) async throws {
        let console = invocation.console
        let telling = Task {
            var lines = lines
            // What happened while the past was being read is in both.
            for await event in coming where !past.contains(event) { try lines.print(event) }
        }
        // The reader may go away while nothing happens.
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
