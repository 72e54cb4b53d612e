import AsyncAlgorithms
import HummingbirdCore
import NIOCore
import OAuthClient
import TokenVault

/// The answer that a client of events reads for as long as it likes.
struct EventStream: Sendable {
    let call: Call
    let users: UserManager
    let user: String?
    let tenant: String?

    /// The time after which something is written in any case: only so is a client missed that has gone.
    private static let silence = Duration.seconds(15)

    /// Returns when the server stops, and throws when the client has gone.
    @concurrent
    func run(after cursor: EventCursor, _ writer: inout any ResponseBodyWriter) async throws {
        // A client that is gone before its first event continues from here.
        let begin = ": events\n" + (cursor == .start ? "" : "id: \(cursor)\n") + "\n"
        try await writer.write(ByteBuffer(string: begin))
        // Whoever has something waits until it is written: nothing piles up for a slow client.
        let parts = AsyncChannel<String>()
        let work = call.connection.stream {
            defer { parts.finish() }
            try await withThrowingTaskGroup { group in
                group.addTask { try await send(after: cursor, to: parts) }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.silence)
                        await parts.send(": alive\n\n")
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        defer { work.cancel() }
        for await part in parts { try await writer.write(ByteBuffer(string: part)) }
        do { try await work.value } catch is CancellationError {}
        try await writer.write(ByteBuffer(string: "event: end\ndata: {}\n\n"))
    }

    private func send(after cursor: EventCursor, to parts: AsyncChannel<String>) async throws {
        let session = user.map { SessionRef.user($0) }
        for try await event in users.events(after: cursor, of: session) {
            let isAllowed = await isAllowed(event)
            if isAllowed { await parts.send(text(event)) }
        }
    }

    /// By the policy as it is now. Events of other tenants and users are passed over.
    private func isAllowed(_ event: SessionEvent) async -> Bool {
        let policy = call.vault.currentPolicy
        guard let client = policy.client(of: call.connection.peer, on: call.connection.socket) else { return false }
        if case .missed = event.kind { return client.refusal(of: .events) == nil }
        var question = PolicyQuestion(.events)
        question.tenant = event.tenant?.name ?? tenant
        if let provider = event.kind.providerName {
            question.provider = provider
        } else {
            guard let user = event.userId else { return false }
            question.user = user
            if !client.allowsAllProviders {
                // That of a login which has been erased is not known any more.
                guard let id = event.login, let login = try? await users.vault.login(id, of: event.tenant) else {
                    return false
                }
                question.provider = login.provider ?? ""
            }
        }
        return client.refusal(of: question) == nil
    }

    private func text(_ event: SessionEvent) -> String {
        var members = JSONMembers()
        members.add("kind", event.kind.name)
        members.add("login", event.login?.description)
        members.add("user", event.userId)
        members.add("tenant", event.tenant?.name)
        members.add("provider", event.kind.providerName)
        members.add("generation", event.generation)
        members.add("date", event.date)
        switch event.kind {
        case .willExpire(let date), .refreshTokenWillExpire(let date): members.add("expires_at", date)
        case .stateChanged(let state): members.add("state", state.description)
        case .refreshFailed(let failure): members.add("reason", failure.reason.description)
        case .error(let code): members.add("code", code.name)
        case .scopeChanged(let isNarrower): members.add("is_narrower", isNarrower)
        case .missed(let count): members.add("count", count)
        default: break
        }
        members.add("answer", event.answer)
        let id = event.cursor.map { "id: \($0)\n" } ?? ""
        return "\(id)event: \(event.kind.name)\ndata: \(members.text)\n\n"
    }
}

extension SessionEvent.Kind {
    /// The provider that it is about, if it is about one and all of its logins.
    fileprivate var providerName: String? {
        switch self {
        case .providerStopped(let name, _), .providerResumed(let name), .providerDrifted(let name): name
        default: nil
        }
    }
}
