/// A provider's answer to a request that it rejected, for people who look for the reason. No decision depends on it.
///
/// The words are the provider's own. They are bounded, and contain no control or formatting characters and none of the
/// secrets that were sent. ``words`` also omits everything else that looks like a token. No other rendering shows them.
public struct ProviderAnswer: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The HTTP status; nil for the answer of an authorization endpoint, which arrives in a URL.
    public let status: Int?
    public let error: OAuthErrorCode?
    /// The `error_description`.
    public let message: ServerMessage?
    /// The reason why there is no reply, such as `tls` or `dns`: then nothing here is the provider's.
    public let failure: HTTPTransportError.Code?
    /// The target of a redirect, without its query. It is not followed.
    public let location: String?

    /// - Parameter secrets: Secrets that were sent and must be removed.
    package init(
        status: Int?, error: OAuthErrorCode?, message: ServerMessage?, failure: HTTPTransportError.Code? = nil,
        location: String? = nil, hiding secrets: [String] = []
    ) {
        self.failure = failure
        self.location = location.map { text in
            let address = text.prefix { $0 != "?" && $0 != "#" }.utf8.prefix(400).filter { (0x21...0x7E).contains($0) }
            return Self.hiding(secrets, in: String(decoding: address, as: UTF8.self))
        }
        self.status = status
        self.error = error.flatMap { OAuthErrorCode(Self.hiding(secrets, in: $0.rawValue)) }
        self.message = message.map { ServerMessage(Self.hiding(secrets, in: $0.reveal())) }
    }

    /// The whole answer on one line, such as `400 invalid_grant: the token was revoked`. It is still the provider's:
    /// escape it like any foreign text, and show it only to an operator.
    public var words: String {
        if let failure { return failure.words }
        if let location, let status { return "\(status), a redirect to \(location)" }
        let front = [status.map { String($0) }, errorWord].compactMap(\.self).joined(separator: " ")
        guard let text = messageWords else { return front }
        return front.isEmpty ? text : "\(front): \(text)"
    }

    /// Only the `error`, filtered like ``words``.
    package var errorWord: String? { error.map { Self.withoutTokens($0.rawValue) } }

    /// Only the `error_description`, filtered like ``words``.
    package var messageWords: String? {
        guard let message, !message.reveal().isEmpty else { return nil }
        return Self.withoutTokens(message.reveal())
    }

    /// Status and code, if the code is a registered one: safe to log.
    public var description: String {
        if let failure { return failure.name }
        let code = error.flatMap { $0.isRegistered ? $0.description : nil }
        return [status.map { String($0) }, code].compactMap(\.self).joined(separator: " ")
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }

    private static let shortestSecret = 4

    private static func hiding(_ secrets: [String], in text: String) -> String {
        var text = text
        for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count })
        where secret.utf8.count >= shortestSecret {
            text = text.replacing(secret, with: "[hidden]")
        }
        return text
    }

    /// Removes long runs of token characters: a server may echo any user's token. Words and UUIDs are shorter.
    private static func withoutTokens(_ text: String) -> String {
        var result = ""
        var run = ""
        func flush() {
            result += run.utf8.count > longestWord ? "[hidden]" : run
            run = ""
        }
        for character in text {
            if character.isASCII, character.isLetter || character.isNumber || "-_.~+/=".contains(character) {
                run.append(character)
            } else {
                flush()
                result.append(character)
            }
        }
        flush()
        return result
    }

    private static let longestWord = 40
}
