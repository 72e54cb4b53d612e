public import OAuthClient

/// Why an operation on a vault did not succeed: a code for programs, one sentence for people, a hint for operators.
///
/// Nothing in it is secret and nothing names a user. ``logins`` holds random ids only. ``answer`` holds words of the
/// provider, and no rendering of the error shows them.
public struct VaultError: Error, Sendable, Equatable {
    /// The kind of error, for programs. New codes may appear in later versions.
    public let code: Code
    /// One sentence, lower case, without a full stop.
    public let message: String
    /// Advice for the operator.
    public let hint: String?
    /// The logins to choose from, with ``Code/ambiguousLogin``.
    public let logins: [LoginID]
    /// The time before which another call is pointless, where that is known.
    public let retryAfter: Duration?
    /// The provider's answer, if it refused and the answer is known. The text is in `ProviderAnswer.words`.
    public let answer: ProviderAnswer?

    package init(
        _ code: Code,
        _ message: String,
        hint: String? = nil,
        logins: [LoginID] = [],
        retryAfter: Duration? = nil,
        answer: ProviderAnswer? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.logins = logins
        self.retryAfter = retryAfter
        self.answer = answer
    }
}

extension VaultError: PublicRendering {
    public var description: String { message }

    var shown: ShownFields {
        ["code": code, "message": message, "hint": hint, "logins": logins, "retryAfter": retryAfter]
    }

    /// What Swift prints of an error that leaves `main`: with the hint, which is the reader's only help there.
    var debugText: String {
        var text = "\(code): \(message)"
        if !logins.isEmpty { text += ": " + logins.map(\.description).joined(separator: ", ") }
        if let hint { text += " (hint: \(hint))" }
        return text
    }
}
