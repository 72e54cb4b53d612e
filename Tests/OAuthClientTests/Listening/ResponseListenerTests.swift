import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import TestSupport
import Testing

struct ResponseListenerTests {
    private final class Listener: TokenEndpointResponseListener {
        struct Trouble: Error {}

        private let responses = Mutex<[TokenEndpointResponse]>([])
        private let throwsAlways: Bool
        private let gate: Flag?

        init(throwsAlways: Bool = false, gate: Flag? = nil) {
            self.throwsAlways = throwsAlways
            self.gate = gate
        }

        var heard: [TokenEndpointResponse] { responses.withLock { $0 } }

        func wait(for count: Int) async {
            while heard.count < count, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
        }

        func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws {
            responses.withLock { $0.append(response) }
            await gate?.wait()
            if throwsAlways { throw Trouble() }
        }
    }

    private func manager(
        _ transport: ScriptedTransport, _ listener: Listener, reveals: Bool = false
    ) throws -> OAuthTokenManager {
        OAuthTokenManager(
            configuration: OAuthClientConfiguration(
                clientID: try ClientID("client"), tokenEndpoint: try Sample.endpoint(),
                revocationEndpoint: try Sample.endpoint("https://server.example.com/revoke?x=1")),
            transport: transport, listener: listener, revealsSecretBodiesToListener: reveals, now: { Sample.start })
    }

    @Test func listenerSeesRawRepliesInOrder() async throws {
        let listener = Listener()
        let transport = ScriptedTransport([
            .reply(reply(200, Sample.good(), [("X-Request-Id", "r1"), ("DPoP-Nonce", "n")])),
            .reply(reply(400, Sample.error("invalid_grant"))), .failure(HTTPTransportError(.maybeSent, .reset)),
        ])
        let manager = try manager(transport, listener)
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        _ = await manager.revokeRefreshToken(try RefreshToken("r"))
        await listener.wait(for: 3)
        let heard = listener.heard
        #expect(heard.map(\.operation) == [.fetch, .refresh, .revoke])
        #expect(heard.map(\.status) == [200, 400, nil])
        #expect(heard.map(\.bodyLength) == [Sample.good().utf8.count, Sample.error("invalid_grant").utf8.count, 0])
        #expect(heard[0].headerFields[HTTPField.Name("X-Request-Id")!] == "r1")
        #expect(heard.map(\.endpoint).last == "https://server.example.com/revoke")
        #expect(heard.allSatisfy { $0.secretBody == nil && $0.startedAt == Sample.start && $0.duration == .zero })
        #expect(!"\(heard) \(String(reflecting: heard))".contains(marker))
        var dumped = ""
        dump(heard, to: &dumped)
        #expect(!dumped.contains(marker))
    }

    @Test func theSecretBodyComesOnlyWhenAskedForByName() async throws {
        let listener = Listener()
        let manager = try manager(ScriptedTransport(reply(200, Sample.good())), listener, reveals: true)
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        await listener.wait(for: 1)
        #expect(listener.heard[0].secretBody == Array(Sample.good().utf8))
        #expect(!"\(listener.heard) \(String(reflecting: listener.heard))".contains(marker))
    }

    @Test func everyRequestOfAnExchangeIsTold() async throws {
        let listener = Listener()
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n1")]),
            reply(200, Sample.good(["token_type": "\"DPoP\""])))
        let manager = OAuthTokenManager(
            configuration: OAuthClientConfiguration(
                clientID: try ClientID("client"), tokenEndpoint: try Sample.endpoint(), keyBinding: .required),
            transport: transport, listener: listener, now: { Sample.start })
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        await listener.wait(for: 2)
        #expect(listener.heard.map(\.status) == [400, 200])
    }

    @Test func aListenerThatThrowsHearsTheNextOne() async throws {
        let listener = Listener(throwsAlways: true)
        let manager = try manager(ScriptedTransport(reply(200, Sample.good()), reply(503)), listener)
        guard case .successfulToken = await manager.fetchAccessToken(with: try AuthorizationCode("c")) else {
            Issue.record("the listener's error reached the caller")
            return
        }
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        await listener.wait(for: 2)
    }

    @Test("a listener that hangs delays no request and learns how many replies it missed")
    func hangingListenerDelaysNoRequest() async throws {
        let gate = Flag()
        let listener = Listener(gate: gate)
        let count = ResponseAnnouncer.capacity + 10
        let manager = try manager(
            ScriptedTransport((0..<count + 1).map { _ in .reply(reply(503)) }), listener)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        await listener.wait(for: 1)
        for _ in 1..<count { _ = await manager.refreshAccessToken(with: try RefreshToken("r")) }
        #expect(listener.heard.count == 1)
        gate.set()
        await listener.wait(for: ResponseAnnouncer.capacity + 1)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        await listener.wait(for: ResponseAnnouncer.capacity + 2)
        #expect(listener.heard.map(\.leftOutBefore).reduce(0, +) == 9)
        #expect(listener.heard.last?.leftOutBefore == 9)
    }
}
