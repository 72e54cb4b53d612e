import OAuthClient
import Synchronization

/// The fences of one renewal, collected inside transactions.
final class FenceSet: Sendable {
    private let fences = Mutex<Set<Int64>>([])

    var all: Set<Int64> { fences.withLock { $0 } }

    func insert(_ fence: Int64) {
        fences.withLock { _ = $0.insert(fence) }
    }
}

/// Responses that listeners must not see yet: their tokens are not stored.
final class HeldResponses: Sendable {
    private let recorders = Mutex<[ResponseRecorder]>([])

    func add(_ recorder: ResponseRecorder?) {
        guard let recorder else { return }
        recorders.withLock { $0.append(recorder) }
    }

    func announce() {
        let ready = recorders.withLock { recorders in
            defer { recorders = [] }
            return recorders
        }
        for recorder in ready { recorder.announce() }
    }
}
