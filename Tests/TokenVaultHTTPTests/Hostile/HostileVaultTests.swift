import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting
import VaultAdministration
import VaultStorage

/// The same servers against a whole vault, each in one of three minds about the refresh token that it was sent; in longer
/// runs, in all three.
struct HostileVaultTests {
    /// What the server does when the same refresh token comes again.
    enum Mind: String, CaseIterable, Sendable {
        /// It had rotated: the token is spent.
        case rotates
        /// It had not: the token is as good as before.
        case forgets
        /// It had, and cannot say so.
        case rotatesThenFails

        func answer(to request: String) -> HostileStep {
            if request.contains(HostileReply.refresh) || self == .forgets {
                let isBound = request.lowercased().contains("\r\ndpop: ")
                return .reply(200, HostileReply.good(isBound ? ["token_type": "\"DPoP\""] : [:]))
            }
            return self == .rotates ? .reply(400, HostileReply.invalidGrant) : .reply(500)
        }
    }

    private static func minds(of one: HostileCase) -> [Mind] {
        let number = one.name.utf8.reduce(0) { $0 + Int($1) } % Mind.allCases.count
        return Depth.pick(brief: [Mind.allCases[number]], nightly: Mind.allCases, deep: Mind.allCases)
    }

    /// The rows of the outcome table that set the flag, and nothing else does.
    private static func failures(_ one: HostileCase, _ mind: Mind) -> Set<RefreshFailure.Reason?> {
        Set(
            // A busy machine may take all of a short time to connect: then nothing was sent.
            (one.isSlow ? [nil] : [])
                + one.expected.map { outcome in
                    switch outcome {
                    case .dead: one.requests > 1 ? .lostResponse : .deadGrant
                    // One replay at once, and what it brings.
                    case .doubt: mind == .rotates ? .lostResponse : nil
                    default: nil
                    }
                })
    }

    @Test(arguments: HostileGroup.all)
    func onlyTheTablesRowsEndALogin(_ group: HostileGroup) async throws {
        // Floods are like any other doubt, and cost seconds each.
        let cases = group.cases.filter { $0.expectedSubject == nil && !$0.isFlood }
        let findings = HostileFindings()
        let temporary = try await TemporaryVault(options: VaultOptions(logger: findings.logger))
        let real = AsyncHTTPTransport(options: .loopback)
        let other = try RawServer { $0.readRequest() }
        try await cases.concurrently(atMost: 4) { one in
            let users = try await UserManager(
                vault: temporary.vault, transport: ImpatientTransport(real: real, limits: one.limits),
                options: UserManagerOptions(tokenEndpointListener: findings))
            for mind in Self.minds(of: one) {
                try await Self.play(one, mind, users, temporary.vault, other: other.port, findings)
            }
        }
        #expect(other.connections == 0)
        let report = try await temporary.vault.verify()
        #expect(report.isClean)
        await real.shutdown()
        #expect(findings.count >= cases.count)
        try findings.expectNothingOf(servers: group.testDescription, in: temporary)
        let played = cases.reduce(0) { $0 + Self.minds(of: $1).count }
        print("hostile \(group.testDescription): \(cases.count) cases, in \(played) minds, on a vault")
    }

    private static func play(
        _ one: HostileCase, _ mind: Mind, _ users: UserManager, _ vault: Vault, other: UInt16,
        _ findings: HostileFindings
    ) async throws {
        let server = try HostileServer(one.scripts, other: other) { _, request in mind.answer(to: request) }
        let login = try await addLogin(
            one, mind, to: vault, users, tokenEndpoint: "http://127.0.0.1:\(server.port)/token")
        let start = ContinuousClock.now
        let token = await findings.watch { try await users.accessToken(for: .login(login.id), .renewed) }
        let stored = try await vault.login(login.id)
        findings.show(stored)
        let reason = stored.failure?.reason
        // A renewal has 45 seconds, and begins no repeat in the last ten: on a machine that takes longer it waits.
        let isLate = start.duration(to: .now) >= .seconds(35)
        #expect(
            failures(one, mind).contains(reason) || isLate && reason == nil,
            "\(one.name), \(mind): \(reason.map { "\($0)" } ?? "alive")")
        let sent = server.connections
        #expect(sent <= one.requests + 1, "\(one.name), \(mind): \(sent) requests")
        // A login that is dead is left alone.
        if reason != nil {
            #expect(token == nil, "\(one.name), \(mind)")
            _ = try? await users.accessToken(for: .login(login.id), .renewed)
            #expect(server.connections == sent, "\(one.name), \(mind): a dead login was sent")
        }
    }

    private static func addLogin(
        _ one: HostileCase, _ mind: Mind, to vault: Vault, _ users: UserManager, tokenEndpoint: String
    ) async throws -> Login {
        try await vault.addProvider(
            ProviderRegistration(
                name: "\(one.name), \(mind)",
                tokenEndpoint: EndpointURL(tokenEndpoint, allowsInsecureLoopback: true), clientID: ClientID("client")))
        return try await users.addLogin(
            userId: "\(one.name), \(mind)", provider: "\(one.name), \(mind)",
            refreshToken: RefreshToken("CANARY-refresh-1"),
            dpopKey: one.usesProof ? .generate() : nil)
    }
}

/// The real transport with limits of a test's own.
private struct ImpatientTransport: HTTPTransport {
    let real: AsyncHTTPTransport
    let limits: HTTPLimits

    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply {
        var own = self.limits
        own.bodyBytes = limits.bodyBytes
        own.headerBytes = limits.headerBytes
        own.headerFields = limits.headerFields
        return try await real.send(request, body: body, limits: own)
    }
}
