import Testing
import VaultCrypto

@testable import VaultStorage

/// Records with all their fields. Tags must ascend, and an encoder that appends them in another order stops the
/// process, but only for a record that has both fields.
struct EveryFieldTests {
    private static let instant = Timestamp(milliseconds: 1_800_000_000_000)

    private static func bytes(_ record: consuming RecordWriter) -> [UInt8] {
        unsafe [UInt8](record.bytes)
    }

    private static func tags(_ bytes: [UInt8]) throws -> [UInt8] {
        try unsafe bytes.withUnsafeBytes { bytes in
            var record = unsafe RecordReader(bytes)
            var tags: [UInt8] = []
            while let field = try record.next() { tags.append(field.tag) }
            return tags
        }
    }

    /// Fails if a field is not set: a new one must be added to the samples below.
    private static func expectAllSet(_ value: Any, _ path: String) {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let content = mirror.children.first?.value else {
                Issue.record("\(path) is not set")
                return
            }
            expectAllSet(content, path)
            return
        }
        if value as? Bool == false { Issue.record("\(path) is not set") }
        if [.collection, .dictionary].contains(mirror.displayStyle), mirror.children.isEmpty {
            Issue.record("\(path) is not set")
        }
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class, !(value is SecretBytes) else { return }
        for child in mirror.children { expectAllSet(child.value, "\(path).\(child.label ?? "")") }
    }

    private static var refusal: RefusalRecord {
        RefusalRecord(
            at: instant, status: 400, error: SecretBytes(utf8: "invalid_grant"), message: SecretBytes(utf8: "no"),
            failure: "timeout", location: SecretBytes(utf8: "https://elsewhere.example"))
    }

    private static var token: TokenRecord {
        var token = TokenRecord(
            target: TokenTarget(resource: "https://api.example", scope: "read"),
            accessToken: SecretBytes(utf8: "CANARY-access"), tokenType: "DPoP", scope: "read", obtainedAt: instant,
            expiresAt: instant, generation: 2)
        (token.isExpiryAssumed, token.isRejected) = (true, true)
        return token
    }

    private static var origin: ImportOrigin {
        let row = ImportOrigin.hash(name: ["row"])
        let former = ImportOrigin(
            source: "web", row: row, tokens: ImportOrigin.hash(name: ["old"]), owner: .source, takenAt: instant)
        var origin = ImportOrigin(
            source: "web", row: row, tokens: ImportOrigin.hash(name: ["new"]), owner: .source, takenAt: instant)
        origin.keepFormer(former)
        origin.isMissing = true
        origin.assumedIssue = instant
        return origin
    }

    @Test func aSession() throws {
        var session = SessionRecord(
            state: .terminated, accessToken: SecretBytes(utf8: "CANARY-access"), tokenType: "DPoP", scope: "read",
            createdAt: Self.instant, obtainedAt: Self.instant, expiresAt: Self.instant)
        session.terminationReason = 1
        session.failure = FailureRecord(reason: 2, at: Self.instant)
        session.notifiedFailure = true
        session.notBefore = Self.instant
        session.attempts = 3
        session.rejectedGeneration = 4
        session.rejections = RejectionHistory(count: 5, since: Self.instant)
        session.doubtCause = 6
        (session.cameAfterDoubt, session.isExpiryAssumed) = (true, true)
        session.accessGeneration = 7
        session.grantedAt = Self.instant
        (session.label, session.grantedScope, session.subject) = ("phone", "read write", "alice")
        session.metadata = ["plan": "gold"]
        session.attributes = ["instance_url": "https://one.example"]
        session.resourceTokens = [Self.token]
        session.origin = Self.origin
        session.lastRefusal = Self.refusal
        (session.resource, session.requestedScope) = ("https://api.example/mcp", "read write")
        (session.repeatedConsents, session.hasMoved) = (1, true)
        Self.expectAllSet(session, "session")
        let bytes = Self.bytes(session.encoded())
        #expect(try Self.tags(bytes) == Array(1...31) + [128, 129])
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe SessionRecord($0) } == session)
    }

    /// The pair that stopped `login update --set` for an imported login.
    @Test func anImportedSessionWithMetadata() throws {
        var session = SessionRecord(state: .established, createdAt: Self.instant, obtainedAt: Self.instant)
        session.origin = Self.origin
        session.metadata = ["team": "42"]
        let bytes = Self.bytes(session.encoded())
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe SessionRecord($0) } == session)
    }

    @Test func theSecretsOfALogin() throws {
        var refresh = RefreshRecord(
            refreshToken: SecretBytes(utf8: "CANARY-refresh"), refreshExpiresAt: Self.instant,
            idToken: SecretBytes(utf8: "CANARY-id"), previousRefresh: SecretBytes(utf8: "CANARY-previous"))
        refresh.previousRole = .sibling
        (refresh.previousSince, refresh.doubtSince) = (Self.instant, Self.instant)
        refresh.replaceToken(with: SecretBytes(utf8: "CANARY-next"))
        Self.expectAllSet(refresh, "refresh")
        let bytes = Self.bytes(refresh.encoded())
        #expect(try Self.tags(bytes) == Array(1...8))
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe RefreshRecord($0) } == refresh)

        let key = KeyRecord(
            dpopPrivateKey: SecretBytes(copying: Array(repeating: 7, count: 32)), nonces: ["https://one.example": "n"])
        Self.expectAllSet(key, "key")
        let keyBytes = Self.bytes(key.encoded())
        #expect(try Self.tags(keyBytes) == [1, 2])
        #expect(try unsafe keyBytes.withUnsafeBytes { try unsafe KeyRecord($0) } == key)
    }

    @Test func aProvider() throws {
        var provider = ProviderRecord(
            name: "acme", issuer: "https://acme.example", tokenEndpoint: "https://acme.example/token",
            clientID: "client", clientAuthentication: "client_secret_basic", profileName: "acme",
            createdAt: Self.instant)
        provider.authorizationEndpoint = "https://acme.example/authorize"
        provider.revocationEndpoint = "https://acme.example/revoke"
        provider.introspectionEndpoint = "https://acme.example/introspect"
        provider.pushedAuthorizationEndpoint = "https://acme.example/par"
        provider.deviceAuthorizationEndpoint = "https://acme.example/device"
        provider.jwksURI = "https://acme.example/jwks"
        provider.clientSecrets = [SecretBytes(utf8: "CANARY-secret")]
        (provider.defaultScope, provider.scopesSupported) = ("read", ["read", "write"])
        provider.redirectURI = "https://app.example/callback"
        provider.dpop = .required
        (provider.requiresIssuerInCallback, provider.requiresPushedRequests) = (true, true)
        provider.profileDocument = "name = \"acme\""
        (provider.clientKeyID, provider.clientKeyAlgorithm) = ("key-1", "PS256")
        (provider.clientCertificate, provider.bindsTokensToCertificate) = ("PEM", true)
        provider.clientCertificateKey = SecretBytes(utf8: "CANARY-key")
        provider.registrationURI = "https://acme.example/register/client"
        provider.registrationToken = SecretBytes(utf8: "CANARY-registration")
        provider.clientSecretExpiresAt = Self.instant
        (provider.parameters, provider.apiOrigins) = (["audience": "api"], ["https://api.acme.example"])
        (provider.mostDeaths, provider.daysEndedIsKept, provider.assertionAudience) = (3, 7, "issuer")
        provider.isOfResources = true
        Self.expectAllSet(provider, "provider")
        let bytes = Self.bytes(provider.encoded())
        #expect(try Self.tags(bytes).count == 35)
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe ProviderRecord($0) } == provider)
    }

    @Test func aLogInRequest() throws {
        var request = AuthorizationRequestRecord(
            state: SecretBytes(utf8: "CANARY-state"), codeVerifier: SecretBytes(utf8: "CANARY-verifier"),
            provider: .random(), userId: "alice", redirectURI: "https://app.example/callback", scope: "read",
            dpopPrivateKey: SecretBytes(copying: Array(repeating: 7, count: 32)), label: "phone",
            createdAt: Self.instant, expiresAt: Self.instant)
        (request.nonces, request.context) = (["https://one.example": "n"], ["page": "1"])
        request.variables = ["shop": "acme"]
        request.bindingHash = SecretBytes(utf8: "hash")
        request.resources = ["https://api.example"]
        request.resource = "https://api.example/mcp"
        request.stepUp = PendingStepUp(
            url: SecretBytes(utf8: "https://acme.example/authorize"), binding: SecretBytes(utf8: "CANARY-binding"),
            urlExpiresAt: Self.instant)
        request.idTokenNonce = SecretBytes(utf8: "nonce")
        request.maximumAge = 60
        request.target = ReplacedLogin(login: .random(), chain: 2, acceptsOtherAccount: true)
        Self.expectAllSet(request, "request")
        let bytes = Self.bytes(request.encoded())
        #expect(try Self.tags(bytes) == Array(1...23))
        let read = try unsafe bytes.withUnsafeBytes {
            try unsafe AuthorizationRequestRecord($0, expiresAt: Self.instant)
        }
        #expect(read == request)
    }

    @Test func aRevocationAndAnUnusableReply() throws {
        let revocation = OutboxRecord(
            provider: .random(), login: .random(), user: .random(), refreshToken: SecretBytes(utf8: "CANARY-refresh"),
            accessToken: SecretBytes(utf8: "CANARY-access"),
            dpopPrivateKey: SecretBytes(copying: Array(repeating: 7, count: 32)), nonces: ["https://one.example": "n"],
            attributes: ["shop": "acme"], createdAt: Self.instant)
        Self.expectAllSet(revocation, "revocation")
        let bytes = Self.bytes(revocation.encoded())
        #expect(try Self.tags(bytes) == Array(1...9))
        let read = try unsafe bytes.withUnsafeBytes { try unsafe OutboxRecord($0, handle: revocation.handle) }
        #expect(read == revocation)

        let reply = UnusableReplyRecord(
            login: .random(), position: .first, fence: 3, receivedAt: Self.instant, status: 200,
            contentType: "text/html", cause: "notJSON", isComplete: true, body: Array("page".utf8))
        Self.expectAllSet(reply, "reply")
        let replyBytes = Self.bytes(reply.encoded())
        #expect(try Self.tags(replyBytes) == Array(1...8))
        let readReply = try unsafe replyBytes.withUnsafeBytes {
            try unsafe UnusableReplyRecord(
                $0, handle: reply.handle, login: reply.login, receivedAt: reply.receivedAt)
        }
        #expect(readReply == reply)
    }

    @Test func anAuditRow() throws {
        var look = LoginSnapshot(
            state: .refreshFailed(FailureRecord(reason: 2, at: Self.instant)), generation: 7,
            token: .init(generation: 3, expiresAt: Self.instant))
        (look.isNew, look.isRecovery) = (true, true)
        look.refreshExpiresAt = Self.instant
        look.grant = .init(since: Self.instant, provider: .random())
        let pruning = TrailPruning(
            first: 1, through: 9, link: .genesis, removed: 8, damaged: 2, kept: 1, keptMarks: .genesis, keySlots: 1,
            revocations: 1)
        let detail = AuditDetail(
            texts: [.init("after", "doubt")], look: look, pruning: pruning,
            actor: AuditActor(uid: 1, name: "root", host: "host", tool: "vaultctl"), provider: .random(), fence: 4,
            facts: ReplyFacts(nextToken: .new, saysLifetime: true, idle: 5, age: 6))
        Self.expectAllSet(detail, "detail")
        let bytes = Self.bytes(detail.encoded())
        #expect(try Self.tags(bytes) == [1, 2, 3, 128, 129, 130, 131])
        let read = try unsafe bytes.withUnsafeBytes { try unsafe AuditDetail($0) }
        #expect(read.facts == detail.facts)
        #expect(read.look == look)
        #expect(read.pruning == pruning)
        #expect(read.actor == detail.actor)
    }

    @Test func aMoveAndASpooledReply() throws {
        #expect(
            try Self.tags(Self.bytes(MoveMark(.left, other: .zero, since: Self.instant).encoded())) == [1, 2, 3])
        var reply = SpooledReply(
            login: .random(), user: .random(), provider: .random(), position: .first, fence: 3,
            accessToken: SecretBytes(utf8: "CANARY-access"), tokenType: "DPoP", scope: "read",
            obtainedAt: Self.instant, expiresAt: Self.instant, refreshToken: SecretBytes(utf8: "CANARY-refresh"),
            refreshExpiresAt: Self.instant, idToken: SecretBytes(utf8: "CANARY-id"),
            dpopPrivateKey: SecretBytes(copying: Array(repeating: 7, count: 32)), nonces: ["https://one.example": "n"],
            resource: "https://api.example", requestedScope: "read")
        (reply.isExpiryAssumed, reply.hasLostSuccessor) = (true, true)
        reply.attributes = ["instance_url": "https://one.example"]
        Self.expectAllSet(reply, "reply")
        #expect(try Self.tags(Self.bytes(reply.encoded())) == Array(1...17))
    }
}
