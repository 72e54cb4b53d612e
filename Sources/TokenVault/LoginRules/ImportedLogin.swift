package import FoundationEssentials
package import OAuthClient
package import VaultCrypto
package import VaultStorage

/// A login of another system, ready to be imported. Its renderings show neither tokens nor the user.
package struct ImportedLogin: Sendable, CustomStringConvertible, CustomReflectable {
    package let userId: String
    /// The provider in this vault.
    package let provider: ProviderHandle
    /// The operator's name for the system.
    package let source: String
    /// Names the row in its source; see ``ImportOrigin``.
    package let row: Bytes16
    /// Whether a login of this source with the same chain is this one, whatever its row is called.
    package var isKnownByChain = false
    /// The login that the row's key names, as an export of this vault writes it.
    package var exportedLogin: LoginHandle?
    package var accessToken: AccessToken?
    package var tokenType: TokenType?
    package var expiresAt: Date?
    package var refreshToken: RefreshToken?
    package var refreshExpiresAt: Date?
    package var scope: Scope?
    package var idToken: IDToken?
    package var dpopKey: DPoPKey?
    package var label: String?
    /// The API that the login is for, and to which alone its tokens go.
    package var resource: String?
    package var subject: String?
    package var attributes: [String: String] = [:]
    /// Nil: unknown.
    package var obtainedAt: Date?
    /// Further access tokens besides the login's own, by their scope.
    package var resourceTokens: [(scope: String, token: AccessToken, expiresAt: Date?)] = []

    package init(userId: String, provider: ProviderHandle, source: String, row: Bytes16) {
        self.userId = userId
        self.provider = provider
        self.source = source
        self.row = row
    }

    package var description: String { "a login of \(source)" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

extension ImportedLogin {
    private var access: SecretBytes? { accessToken.map { SecretBytes(utf8: $0.reveal()) } }
    private var refresh: SecretBytes? { refreshToken.map { SecretBytes(utf8: $0.reveal()) } }

    /// As ``ImportOrigin/tokens``.
    var tokens: Bytes16 { ImportOrigin.hash(access: access, refresh: refresh) }

    func draft(owner: ImportOrigin.Owner, now: Timestamp) -> LoginDraft {
        var session = SessionRecord(state: .established, createdAt: now, obtainedAt: now)
        session.origin = origin(tokens, row: row, owner: owner, now: now)
        session.label = label
        session.resource = resource
        session.subject = subject
        let records = fill(&session, generation: 1, now: now)
        session.grantedScope = session.scope
        var draft = LoginDraft(
            userId: userId, provider: provider, session: session, refresh: records.refresh, key: records.key)
        draft.auditEvents = [AuditEvent(.loginImported, [.init(AuditEvent.Detail.Key.source, source)])]
        return draft
    }

    func origin(_ tokens: Bytes16, row: Bytes16, owner: ImportOrigin.Owner, now: Timestamp) -> ImportOrigin {
        var origin = ImportOrigin(source: source, row: row, tokens: tokens, owner: owner, takenAt: now)
        origin.assumedIssue = obtainedAt == nil ? now : nil
        return origin
    }

    /// Writes the tokens into a session, and returns the records that are stored next to it.
    func fill(
        _ session: inout SessionRecord, generation: Int64, now: Timestamp
    ) -> (refresh: RefreshRecord?, key: KeyRecord?) {
        session.accessToken = access
        session.tokenType = (tokenType ?? (dpopKey == nil ? .bearer : .dpop)).storedForm
        session.scope = scope?.description
        session.obtainedAt = obtainedAt.map { min(Timestamp($0), now) } ?? now
        session.expiresAt = Self.moment(expiresAt)
        session.isExpiryAssumed = false
        session.accessGeneration = nil
        session.attributes = attributes
        session.resourceTokens = []
        for token in resourceTokens {
            session.keep(
                TokenRecord(
                    target: TokenTarget(scope: token.scope), accessToken: SecretBytes(utf8: token.token.reveal()),
                    tokenType: session.tokenType, scope: token.scope, obtainedAt: session.obtainedAt,
                    expiresAt: Self.moment(token.expiresAt), generation: generation))
        }
        let refresh = refresh.map { token in
            RefreshRecord(
                refreshToken: token, refreshExpiresAt: Self.moment(refreshExpiresAt),
                idToken: idToken.map { SecretBytes(utf8: $0.reveal()) })
        }
        return (refresh, dpopKey.map { KeyRecord($0) })
    }

    /// An invalid date counts as unknown. A source's dates are kept as they are, and not shortened.
    private static func moment(_ date: Date?) -> Timestamp? {
        guard let date, date.timeIntervalSince1970.isFinite else { return nil }
        return Timestamp(date)
    }
}

extension AuditEvent.Detail.Key {
    /// The operator's name for the system that logins come from.
    package static let source = "source"
}
