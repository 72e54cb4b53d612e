import Foundation
import HTTPTypes
import OAuthClient

/// A reply from a file: comment lines, status line, header fields, an empty line, the body.
struct RecordedReply: Sendable, CustomStringConvertible {
    let profile: String
    let name: String
    let source: String
    /// `doubt`, `dpop` or `code`.
    let given: Set<String>
    let expected: String
    let reply: HTTPReply

    var description: String { "\(profile)/\(name)" }

    static let all: [RecordedReply] = {
        let folder = Bundle.module.resourceURL?.appendingPathComponent("Fixtures")
        let files = folder.flatMap { FileManager.default.enumerator(at: $0, includingPropertiesForKeys: nil) }
        return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "http" }
            .sorted { $0.path < $1.path }.compactMap(RecordedReply.init)
    }()

    private init?(_ file: URL) {
        guard let text = try? String(contentsOf: file, encoding: .utf8), let end = text.range(of: "\n\n") else {
            return nil
        }
        var lines = text[..<end.lowerBound].split(separator: "\n")
        var comments: [Substring] = []
        while lines.first?.hasPrefix("# ") == true { comments.append(lines.removeFirst().dropFirst(2)) }
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
        }
        func comment(_ key: String) -> String? {
            comments.first { $0.hasPrefix("\(key): ") }.map { String($0.dropFirst(key.count + 2)) }
        }
        guard let expected = comment("expect"), let source = comments.first else { return nil }
        profile = file.deletingLastPathComponent().lastPathComponent
        name = file.deletingPathExtension().lastPathComponent
        self.source = String(source)
        given = Set(comment("given")?.split(separator: " ").map(String.init) ?? [])
        self.expected = expected
        reply = OAuthClientTests.reply(status, String(text[end.upperBound...]), fields)
    }
}

extension TokenOutcome {
    /// The outcome in the words of the recorded replies.
    var words: String {
        switch self {
        case .success(let tokens): tokens.words
        case .partial(let partial): "partial \(partial.cause)"
        case .dead(let cause): "dead \(cause)"
        case .misconfigured(.client): "clientRefused"
        case .misconfigured: "misconfigured"
        case .needsUser: "needsUser"
        case .transient(let failure): failure.words
        case .inDoubt: "inDoubt"
        case .nonceRequired: "nonceRequired"
        case .invalidProof: "invalidProof"
        case .scopeRefused: "scopeRefused"
        }
    }
}

extension IssuedTokens {
    fileprivate var words: String {
        var words = ["success", tokenType.description, expiresIn.map { "\($0.components.seconds)" } ?? "unknown"]
        words.append(refreshToken == nil ? "kept" : "rotated")
        if let life = refreshExpiresIn { words.append("\(life.components.seconds)") }
        if let scope, !scope.isEmpty { words.append("scope=\(scope)") }
        if !others.isEmpty { words.append("others=" + others.map(\.label).joined(separator: ",")) }
        return words.joined(separator: " ")
    }
}

extension TransientFailure {
    fileprivate var words: String {
        let name =
            switch cause {
            case .notSent: "notSent"
            case .throttled: "throttled"
            case .serverError: "serverError"
            case .nonceMissing: "nonceMissing"
            case .nonceRepeated: "nonceRepeated"
            case .temporary: "temporary"
            case .redirect: "redirect"
            case .unclassifiedRejection: "unclassifiedRejection"
            case .unclassifiedError: "unclassifiedError"
            }
        let wait = retryAfter.map { " \($0.components.seconds)" } ?? ""
        return "transient " + name + wait + (keepsDoubt ? " doubt" : "")
    }
}
