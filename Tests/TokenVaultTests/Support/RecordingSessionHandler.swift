import FoundationEssentials
import OAuthClient
import Synchronization
import TokenVault
import TokenVaultTesting

/// A session handler that answers as told, and keeps what it was asked.
final class RecordingSessionHandler: SessionHandler {
    typealias Answer = @Sendable (AccessTokenRenewal) async -> Void

    private struct State {
        var answers: [Answer]
        var kept: [AccessTokenRenewal] = []
        var asked = 0
        var cancelled = 0
    }

    private let state: Mutex<State>
    /// Whether renewals are held, so that they can be answered later.
    private let keeps: Bool

    convenience init(keeps: Bool = false, _ answers: Answer...) {
        self.init(keeps: keeps, answers)
    }

    init(keeps: Bool = false, _ answers: [Answer]) {
        self.keeps = keeps
        state = Mutex(State(answers: answers))
    }

    func enqueue(_ answers: Answer...) {
        state.withLock { $0.answers += answers }
    }

    var asked: Int { state.withLock { $0.asked } }
    var cancelled: Int { state.withLock { $0.cancelled } }
    var last: AccessTokenRenewal? { state.withLock { $0.kept.last } }

    /// Returns once it has been asked so often, with the last question.
    func waitForQuestion(_ count: Int = 1) async {
        while asked < count, !Task.isCancelled { await Task.yield() }
    }

    func forget() {
        state.withLock { $0.kept = [] }
    }

    func sessionWillRenewAccessToken(_ renewal: AccessTokenRenewal) async {
        let answer = state.withLock { state in
            if keeps { state.kept.append(renewal) }
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        state.withLock { $0.asked += 1 }
        await answer?(renewal)
        if Task.isCancelled { state.withLock { $0.cancelled += 1 } }
    }

    static let consent: Answer = { try? await $0.renew() }
    static let nothing: Answer = { _ in }
    static let unable: Answer = { try? await $0.unableToRetrieveAuthToken() }

    static func token(_ name: String, expiresAt: Date? = nil) -> Answer {
        { renewal in
            guard let token = try? AuthToken(Sample.marker + "access-" + name) else { return }
            try? await renewal.renewWithAuthToken(token, expiresAt: expiresAt)
        }
    }
}

extension World {
    /// A provider that takes tokens of the app's own server.
    static func provider(exchange: String) throws -> ProviderRegistration {
        var registration = Sample.provider()
        registration.profileDocument = Array(
            """
            {"profile":1,"name":"own","title":"Own","source":[{"url":"https://acme.example/","read":"2026-11-21"}],
            "exchange":\(exchange)}
            """.utf8)
        return registration
    }

    /// Another process, with a session handler.
    func anotherProcess(_ handler: RecordingSessionHandler) async throws -> (vault: Vault, users: UserManager) {
        let other = try await anotherProcess()
        other.users.setSessionHandler(handler)
        return other
    }
}

/// The code of the error that a synchronous call throws.
func errorCode(of body: () async throws -> Void) async -> VaultError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? VaultError)?.code
    }
}
