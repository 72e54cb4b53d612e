import Dispatch
import Glibc
import Synchronization

/// Reads a line that a person may type while the program waits for something else.
///
/// Unlike other prompts, it ends when its task is cancelled, and leaves signals to its caller.
struct TimedLineReader {
    private static let maximumBytes = 65_536
    private static let pollMilliseconds: Int32 = 50

    private final class Stop: Sendable {
        let isSet = Atomic(false)
    }

    let descriptor: Int32

    /// The line; nil at the end of input.
    func line() async throws -> String? {
        let stop = Stop()
        let bytes: [UInt8]? = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { [descriptor] in
                    continuation.resume(with: Result { try Self.read(descriptor, until: stop) })
                }
            }
        } onCancel: {
            stop.isSet.store(true, ordering: .relaxed)
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func read(_ descriptor: Int32, until stop: Stop) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            guard !stop.isSet.load(ordering: .relaxed) else { throw CancellationError() }
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe Glibc.poll(&poll, 1, pollMilliseconds) > 0 else { continue }
            let count = unsafe Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count == 1 else { return nil }
            guard byte != UInt8(ascii: "\n") else { return bytes }
            if bytes.count < maximumBytes { bytes.append(byte) }
        }
    }
}
