package import FoundationEssentials

/// The facts, in addition to the reply, that its classification depends on.
package struct ClassificationContext: Sendable {
    // Known to the owner of the login.

    /// The token type that the login requires.
    package var expectedTokenType: TokenType
    /// An earlier request for this generation may have been received, and its reply is unknown.
    package var inDoubtIntentExisted: Bool
    /// Unclassified rejections since the last success, without this one.
    package var rejections: RejectionHistory?
    /// The subject and issuer of the login's id token, if it has one.
    package var expectedIdentity: IDTokenIdentity?
    /// The refresh token that was sent: a reply that repeats it has brought no successor.
    package var sentRefreshToken: RefreshToken?

    /// The reply is to a code: it may bring the tokens of additional logins.
    package var grantIsNew: Bool

    // Known to the token endpoint, which sets them for each request.

    package var proofWasSent: Bool
    /// The nonce of the proof that was sent, and the clock offset in its `iat`.
    package var sentNonce: DPoPNonce?
    package var sentClockOffset: Duration
    /// This request already repeats one for its proof: no second repeat for a rejected clock or proof.
    package var proofWasRepeated: Bool
    /// How often this request has been repeated because the server asked for another nonce, and the nonces it was
    /// given.
    package var nonceRepeats = 0
    package var triedNonces: Set<DPoPNonce> = []
    package var scopeWasSent: Bool
    /// This request repeats one whose token the server has already seen.
    package var isRepeat: Bool
    /// When the request began and when the reply was complete.
    package var startedAt: Date
    package var repliedAt: Date

    package init(
        expectedTokenType: TokenType = .bearer, inDoubtIntentExisted: Bool = false,
        rejections: RejectionHistory? = nil,
        expectedIdentity: IDTokenIdentity? = nil, grantIsNew: Bool = false, proofWasSent: Bool = false,
        sentNonce: DPoPNonce? = nil,
        sentClockOffset: Duration = .zero, proofWasRepeated: Bool = false, scopeWasSent: Bool = false,
        isRepeat: Bool = false, startedAt: Date = Date(timeIntervalSince1970: 0),
        repliedAt: Date = Date(timeIntervalSince1970: 0)
    ) {
        self.expectedTokenType = expectedTokenType
        self.inDoubtIntentExisted = inDoubtIntentExisted
        self.rejections = rejections
        self.expectedIdentity = expectedIdentity
        self.grantIsNew = grantIsNew
        self.proofWasSent = proofWasSent
        self.sentNonce = sentNonce
        self.sentClockOffset = sentClockOffset
        self.proofWasRepeated = proofWasRepeated
        self.scopeWasSent = scopeWasSent
        self.isRepeat = isRepeat
        self.startedAt = startedAt
        self.repliedAt = repliedAt
    }
}

extension ClassificationContext {
    /// Whether the refresh token may have been spent by an earlier request whose reply did not settle it.
    var hasDoubt: Bool { inDoubtIntentExisted || isRepeat }

    /// A nonce that was tried already, or one challenge too many, does not help.
    func mayTry(_ nonce: DPoPNonce) -> Bool {
        nonce != sentNonce && !triedNonces.contains(nonce) && nonceRepeats < ServerNonces.mostRepeats
    }

    /// Notes that the nonce was rejected and the request is about to be repeated.
    mutating func noteRefusedNonce() {
        proofWasRepeated = true
        nonceRepeats += 1
        if let sentNonce { triedNonces.insert(sentNonce) }
    }
}
