import Logging

/// Prints the library's log in the program's own format: warnings, and with `--verbose` all of it.
struct ConsoleLogHandler: LogHandler {
    let invocation: Invocation
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(_ invocation: Invocation) {
        self.invocation = invocation
        logLevel = invocation.isVerbose ? .debug : invocation.isQuiet ? .error : .warning
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level = Self.word(event.level)
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        if invocation.isJSON || invocation.logsJSON {
            let log: OutputRecord = [
                .data("level", level), .data("message", event.message.description),
                .data("metadata", OutputRecord(details.map { .data($0.key, "\($0.value)") })),
            ]
            invocation.diagnose([.data("log", log)])
        } else {
            let words = details.map { "\(Self.readable($0.key)) \(Printable.shortened("\($0.value)", to: 200))" }
            let message = Printable.shortened(event.message.description, to: 400)
            invocation.diagnose(level, words.isEmpty ? message : "\(message) (\(words.joined(separator: ", ")))")
        }
    }

    private static func word(_ level: Logger.Level) -> String {
        level == .critical ? "error" : level.rawValue
    }

    /// `vault-login-handle` is the library's key for a login.
    private static func readable(_ key: String) -> String {
        var name = key[...]
        if name.hasPrefix("vault-") { name = name.dropFirst("vault-".count) }
        if name.hasSuffix("-handle") { name = name.dropLast("-handle".count) }
        return Printable.shortened(String(name).replacing("-", with: " "))
    }
}

extension Invocation {
    /// The logger for the library.
    var logger: Logger {
        Logger(label: "vaultctl") { _ in ConsoleLogHandler(self) }
    }
}
