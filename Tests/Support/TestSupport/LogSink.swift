package import Logging
import Synchronization

/// Keeps every log line, of every level, with its metadata.
package final class LogSink: Sendable {
    private let lines = Mutex<[(level: Logger.Level, text: String)]>([])
    private let onLine: @Sendable (String) -> Void

    /// - Parameter onLine: is called with each line as it is logged.
    package init(onLine: @escaping @Sendable (String) -> Void = { _ in }) {
        self.onLine = onLine
    }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(sink: self) }
    }

    package var text: String { lines.withLock { $0.map(\.text).joined(separator: "\n") } }
    package var loudest: Logger.Level? { lines.withLock { $0.map(\.level).max() } }

    private func keep(_ level: Logger.Level, _ text: String) {
        lines.withLock { $0.append((level, text)) }
        onLine(text)
    }

    private struct Handler: LogHandler {
        let sink: LogSink
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            sink.keep(event.level, "\(event.message) \(event.metadata ?? [:])")
        }
    }
}
