/// How logins are ended.
public struct LoginEnd: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case loggedOut
        case removed
        case terminated(TerminationReason)
    }

    let kind: Kind

    /// As ``UserManager/logOut(_:revokes:)``: gone from the vault, and revoked at the provider.
    public static let loggedOut = Self(kind: .loggedOut)
    /// As ``UserManager/logOut(_:revokes:)`` without a revocation: gone from the vault; the grant lives on at the provider.
    public static let removed = Self(kind: .removed)

    /// As ``UserManager/terminate(_:reason:)``: revoked, and kept in the vault with the reason.
    public static func terminated(_ reason: TerminationReason) -> Self { Self(kind: .terminated(reason)) }

    /// Whether the provider is asked to end the grant.
    var revokes: Bool { kind != .removed }
}

extension LoginEnd: PublicRendering {
    var shown: ShownFields {
        switch kind {
        case .loggedOut, .removed: ["revokes": revokes]
        case .terminated(let reason): ["reason": reason]
        }
    }
}
