/// How an authorization server treats refresh tokens that come a second time.
package enum Behaviour: String, Sendable, CaseIterable {
    /// R0: it never rotates.
    case keeping
    /// R1(G): within the grace, a spent token gives the same successor again.
    case grace
    /// R1(G): within the grace, a spent token gives another successor beside the first.
    case branching
    /// R2: a spent token revokes the grant.
    case strict
    /// As strict, and it spends the token before it asks for a nonce (bluesky-social/atproto#3859).
    case nonceFirst

    /// Where it matters when a scheduler renews: mostly one that forgives as long as the successor is unused.
    static let calm: [Behaviour] = [.grace, .grace, .grace, .branching, .strict]

    static let forgiveness: Int64 = 60_000

    /// A profile that says so.
    var profile: String {
        switch self {
        case .keeping: Self.document(#""rotation": "never", "reuseBlast": "none""#)
        case .grace, .branching: Self.document(#""rotation": "always", "graceSeconds": 60"#)
        case .strict: Self.document(#""rotation": "always", "reuseBlast": "family""#)
        case .nonceFirst:
            Self.document(
                #""rotation": "always", "reuseBlast": "family""#,
                #", "dpop": { "usage": "required", "requiresNonce": true }"#)
        }
    }

    private static func document(_ refresh: String, _ rest: String = "") -> String {
        #"{ "profile": 1, "name": "simulated", "source": [{ "url": "https://server.example/", "read": "2026-11-21" }], "#
            + #""refresh": { \#(refresh) }\#(rest), "limits": { "timeoutSeconds": 20 } }"#
    }
}
