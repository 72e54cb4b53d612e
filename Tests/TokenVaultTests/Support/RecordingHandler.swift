import FoundationEssentials
import Synchronization
import TokenVault
import TokenVaultTesting

/// A handler that answers as told and counts.
final class RecordingHandler: TokenRefreshHandler {
    typealias Answer = @Sendable (String, LoginID) async throws -> RefreshedAccessToken

    private struct State {
        var answers: [Answer] = []
        var asked: [String] = []
        var failed: [String] = []
        var needed: [String] = []
        var cancelled = 0
    }

    private let state = Mutex(State())

    func enqueue(_ answers: Answer...) {
        state.withLock { $0.answers += answers }
    }

    /// Answers with a token of this name.
    static func token(_ name: String, expiresAt: Date? = nil) -> Answer {
        { _, _ in RefreshedAccessToken(accessToken: Sample.accessToken(name), expiresAt: expiresAt) }
    }

    var asked: [String] { state.withLock { $0.asked } }
    var failed: [String] { state.withLock { $0.failed } }
    var needed: [String] { state.withLock { $0.needed } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken {
        let answer = state.withLock { state in
            state.asked.append(userId)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw Unprepared() }
        do {
            return try await answer(userId, login)
        } catch let error as CancellationError {
            state.withLock { $0.cancelled += 1 }
            throw error
        }
    }

    func onRefreshFailed(userId: String, login: LoginID) async {
        state.withLock { $0.failed.append(userId) }
    }

    func onUserNeeded(userId: String, login: LoginID) async {
        state.withLock { $0.needed.append(userId) }
    }

    struct Unprepared: Error {}
}
