import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting

@testable import TokenVault

/// A server's nonce is the client's, not one login's (RFC 9449 §8.2).
@Suite(.timeLimit(.minutes(5)))
struct SharedNonceTests {
    private static let nonceField = HTTPField.Name.dpopNonce

    private func nonce(_ sent: ScriptedTransport.SentRequest) -> String? {
        guard let proof = sent.request.headerFields[HTTPField.Name.dpop],
            let claims = Base64URL.decode(proof.split(separator: ".")[1]).flatMap({ try? JSONObject(document: $0) }),
            case .string(let nonce)? = claims["nonce"]
        else { return nil }
        return nonce
    }

    /// A server that wants its one nonce, and changes it after so many uses.
    private func server(uses: Int, isBoundToKey: Bool = false) -> ScriptedReply {
        let state = Mutex((nonces: [String: Int](), used: 0, name: 0))
        return ScriptedReply { request throws(HTTPTransportError) in
            let header = request.request.headerFields[HTTPField.Name.dpop]?.split(separator: ".").first.map(String.init)
            let key = isBoundToKey ? header ?? "" : ""
            let sent = nonce(request)
            let (isGood, next, name) = state.withLock { state in
                let wanted = "\(key.suffix(24))n\(state.nonces[key] ?? 0)"
                let isGood = sent == wanted
                if isGood { state.used += 1 }
                if state.used >= uses {
                    state.nonces[key, default: 0] += 1
                    state.used = 0
                }
                state.name += 1
                return (isGood, "\(key.suffix(24))n\(state.nonces[key] ?? 0)", state.name)
            }
            let headers: HTTPFields = [Self.nonceField: next]
            let reply: ScriptedReply =
                isGood
                ? .json(
                    #"{"access_token":"CANARY-access-\#(name)","refresh_token":"CANARY-refresh-\#(name)","#
                        + #""token_type":"DPoP","expires_in":3600}"#, headers: headers)
                : .error("use_dpop_nonce", headers: headers)
            return try await reply.reply(to: request)
        }
    }

    private func renewAll(_ count: Int, _ reply: ScriptedReply) async throws -> Int {
        let world = try await World()
        for number in 0..<count {
            try await world.addChain(user: "u\(number)", name: "\(number)", dpopKey: .generate())
        }
        world.transport.fallback = reply
        for round in 0..<2 {
            if round > 0 { world.expire() }
            for number in 0..<count { _ = try await world.users.updateAccessToken(userId: "u\(number)") }
        }
        return world.transport.requestCount
    }

    @Test func whatOneLoginLearnedSparesTheNextARefusal() async throws {
        // Twelve logins, two rounds: one refusal, for the very first nonce.
        #expect(try await renewAll(12, server(uses: 3)) == 24 + 1)
    }

    @Test func whereNoncesAreBoundToKeysEachLoginKeepsItsOwn() async throws {
        // Each login learns its own once; lent ones are tried no more than a few times.
        #expect(try await renewAll(12, server(uses: .max, isBoundToKey: true)) <= 24 + 12 + 4)
    }
}
