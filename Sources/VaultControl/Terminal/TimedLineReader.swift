import Dispatch
import Platform
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

    let descriptor: BorrowedDescriptor

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

    private static func read(_ descriptor: BorrowedDescriptor, until stop: Stop) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var byte: [UInt8] = [0]
        while true {
            guard !stop.isSet.load(ordering: .relaxed) else { throw CancellationError() }
            var wait = DescriptorWait(for: descriptor.number, .readable)
            guard let ready = try? wait.wait(milliseconds: pollMilliseconds), ready > 0 else { continue }
            do throws(SystemError) {
                guard try descriptor.read(into: &byte) == 1 else { return nil }
            } catch {
                if error == .wouldWait { continue }
                return nil
            }
            guard byte != [UInt8(ascii: "\n")] else { return bytes }
            if bytes.count < maximumBytes { bytes += byte }
        }
    }
}
