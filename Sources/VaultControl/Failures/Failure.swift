/// Why a command ends early: a sentence, hints and the exit code.
struct Failure: Error {
    var status: ExitStatus
    /// A stable word for programs, in JSON output.
    let code: String
    /// One sentence, lower case, without a full stop.
    var message: String
    var hints: [String]
    /// The provider's text, escaped.
    var answer: String?
    /// Why no reply arrived, in a word.
    var cause: String?

    init(_ status: ExitStatus, code: String? = nil, _ message: String, hints: [String] = []) {
        self.status = status
        self.code = code ?? Self.word(for: status)
        self.message = message
        self.hints = hints.map(Self.installed)
    }

    /// Documentation pages by their installed names: the reader of a hint may have no checkout.
    static func installed(_ text: String) -> String {
        guard let start = text.firstRange(of: "docs/"), let end = text[start.upperBound...].firstRange(of: ".md")
        else { return text }
        let name = text[start.upperBound..<end.lowerBound]
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "-") }) else { return text }
        return text[..<start.lowerBound] + "man tokenvault-\(name)" + text[end.upperBound...]
    }

    static func usage(_ message: String, hint: String? = nil) -> Failure {
        Failure(.usage, message, hints: hint.map { [$0] } ?? [])
    }

    /// A path at which something else is than a vault or a backup: a mistake in the command line, and no damage.
    static func otherFile(_ noun: String, _ message: String, hints: [String]) -> Failure {
        Failure(.usage, code: noun == "backup" ? "notABackup" : "notAVault", message, hints: hints)
    }

    /// The failure with other advice than to make a vault, where an empty one would take a lost one's place.
    func notSuggestingInit(_ advice: String) -> Failure {
        var failure = self
        failure.hints = hints.map { $0.hasSuffix("vaultctl init") ? advice : $0 }
        return failure
    }

    var record: OutputRecord { record(exitCode: nil) }

    /// - Parameter exitCode: What the program ends with instead: a signal decides that.
    func record(exitCode: Int32?) -> OutputRecord {
        let error: OutputRecord = [
            .data("code", code), .data("message", message), .data("hints", hints),
            .data("exitCode", Int(exitCode ?? status.rawValue)),
        ]
        let words = OutputRecord(answer.map { [.data("answer", $0)] } ?? [])
        return [.data("error", error + words + OutputRecord(cause.map { [.data("cause", $0)] } ?? []))]
    }

    private static func word(for status: ExitStatus) -> String {
        switch status {
        case .success: "success"
        case .usage: "usage"
        case .notFound: "notFound"
        case .partlyDone: "partlyDone"
        case .damaged: "damaged"
        case .rollback: "rollback"
        case .busy: "busy"
        case .key: "key"
        case .loginDead: "loginDead"
        case .provider: "provider"
        case .machine: "machine"
        }
    }
}
