import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing

/// Random and mutated input: nothing traps, and nothing but a whole verdict is one. The seed is fixed, so that a
/// failure comes back.
struct PropertyTests {
    private static let seeds = [
        Sample.good(["id_token": "\"e30.eyJzdWIiOiJhIn0.c2ln\"", "scope": "\"a b\"", "x": "[1,{\"y\":null}]"]),
        Sample.error("invalid_grant"), "access_token=a&token_type=bearer&expires_in=3600&refresh_token=b",
        #"{"issuer":"https://a.example","token_endpoint":"https://a.example/token","scopes_supported":["a"]}"#,
    ].map { Array($0.utf8) }

    private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let index = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: index)
            case 1 where index < bytes.count: bytes.remove(at: index)
            case 2 where index < bytes.count: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            default: bytes.append(contentsOf: bytes[..<index].suffix(20))
            }
        }
        return bytes
    }

    private func read(_ bytes: [UInt8], _ issuer: Issuer) -> Int {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = try? JSONObject(document: bytes)
        _ = FormCodec.decode(bytes)
        _ = try? ServerMetadata(parsing: bytes, issuer: issuer)
        _ = try? AuthorizationCallback(parsing: text)
        _ = try? EndpointURL(text)
        _ = HTTPDate.seconds(text)
        _ = ISODate.seconds(text)
        _ = Base64URL.decode(text)
        _ = ServerMessage(text)
        _ = (try? IDToken(text)).flatMap(IDTokenIdentity.init)
        let context = ClassificationContext(startedAt: Sample.start, repliedAt: Sample.start)
        for status in [200, 400] { _ = classify(.reply(reply(status, bytes: bytes)), context, .rfc) }
        return 12
    }

    @Test func randomAndMutatedBytesNeverTrap() throws {
        var generator = SeededGenerator(seed: 42)
        let issuer = try Issuer("https://a.example")
        var count = 0
        for round in 0..<4_000 {
            let length = Int.random(in: 0...64, using: &generator)
            let random = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            count += read(random, issuer)
            count += read(mutated(Self.seeds[round % Self.seeds.count], &generator), issuer)
        }
        print("property test: \(count) readings of random and mutated bytes")
    }

    @Test func randomHeadersNeverTrap() {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "120", "-1", "Tue", ",", " ", "14", "Nov", "2023", "22:13:20", "GMT", "9999999999999999999", ":", "+",
        ]
        for _ in 0..<5_000 {
            let value = (0..<Int.random(in: 0...8, using: &generator))
                .compactMap { _ in pieces.randomElement(using: &generator) }.joined(separator: " ")
            let reply = reply(400, Sample.error("invalid_dpop_proof"), [("Retry-After", value), ("Date", value)])
            _ = RetryAfter.delay(in: reply.response, now: Sample.start)
            _ = classify(.reply(reply), ClassificationContext(proofWasSent: true), .rfc)
        }
        print("property test: 5000 random header values")
    }

    @Test func randomStringsSurviveTheFormCodec() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 1...20, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator))
            }
            let text = String(String.UnicodeScalarView(scalars))
            guard !text.isEmpty else { continue }
            let parameters = [FormParameter("n" + text, text)]
            #expect(FormCodec.decode(FormCodec.encode(parameters)) == parameters)
        }
        print("property test: 2000 form round trips")
    }

    @Test func errorReplyWithOneByteChangedKillsNoLogin() {
        let verdict = Array(Sample.error("invalid_grant").utf8)
        var count = 0
        for index in verdict.indices {
            for byte in UInt8.min...UInt8.max where byte != verdict[index] {
                var bytes = verdict
                bytes[index] = byte
                let outcome = classify(.reply(reply(400, bytes: bytes)), ClassificationContext(), .rfc)
                if case .dead = outcome { Issue.record("byte \(index) became \(byte) and the login died") }
                count += 1
            }
        }
        print("verdict mutation: \(count) neighbours, none dead")
    }
}
