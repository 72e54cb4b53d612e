import Dispatch
import Glibc
import UnixSignals

/// Waits for the first of the causes to stop.
enum StopSignal {
    /// Starts listening at once, so that a signal sent right after the ready line is not missed.
    static func listen(_ options: RunningOptions) async -> AsyncStream<Void> {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        Task {
            for await _ in signals { stop.yield() }
        }
        if let duration = options.stopAfter?.duration {
            Task {
                try await Task.sleep(for: duration)
                stop.yield()
            }
        }
        if options.exitsWithStandardInput {
            // Reading blocks, which the threads of the concurrency pool must not.
            DispatchQueue.global().async {
                unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
                    while true {
                        let count = unsafe read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                        if count == 0 || (count < 0 && errno != EINTR) { break }
                    }
                }
                stop.yield()
            }
        }
        return stops
    }
}
