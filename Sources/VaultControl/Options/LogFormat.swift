import ArgumentParser

/// The format of lines on standard error.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    /// For programs that collect logs.
    case json

    static let variable = "TOKENVAULT_LOG_FORMAT"

    /// The option, or else the environment.
    static func chosen(_ option: LogFormat?, _ environment: [String: String]) throws(Failure) -> LogFormat {
        if let option { return option }
        guard let text = environment[variable], !text.isEmpty else { return .text }
        guard let format = LogFormat(rawValue: text) else {
            throw .usage("\(variable) is not a log format: \(Printable.shortened(text))", hint: "use text or json")
        }
        return format
    }
}
