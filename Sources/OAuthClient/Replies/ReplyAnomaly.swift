/// A part of a successful reply that was ignored or changed.
package enum ReplyAnomaly: String, Hashable, Sendable, CaseIterable {
    /// A negative or unreadable lifetime, treated as unknown.
    case unusableLifetime
    /// A lifetime of more than ten years, shortened to that.
    case clampedLifetime
    /// A refresh token that cannot be sent again. The old one is probably spent.
    case unusableRefreshToken
    /// A scope outside the grammar, or repeated: treated as missing.
    case unusableScope
    /// An id token that could not be read: dropped.
    case unusableIDToken
    /// No `token_type`: treated as `Bearer`.
    case missingTokenType
}
