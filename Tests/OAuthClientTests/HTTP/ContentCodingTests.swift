import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing

/// Replies that a server has packed although it was asked not to.
struct ContentCodingTests {
    /// `{"access_token":"a","token_type":"Bearer","refresh_token":"next","expires_in":3600}`, packed by Python's zlib.
    private static let gzip =
        "H4sIAAAAAAACA6tWSkxOTi0uji/Jz07NU7JSSlTSUQKz40sqC1KBAk6piUWpRUDRotS0otTiDLjKvNSKEqBwakVBJlA8PhMoZmxmYFALAA/jcdxTAAAA"
    private static let zlib =
        "eJyrVkpMTk4tLo4vyc9OzVOyUkpU0lECs+NLKgtSgQJOqYlFqUVA0aLUtKLU4gy4yrzUihKgcGpFQSZQPD4TKGZsZmBQCwC5tBxU"
    private static let bare =
        "q1ZKTE5OLS6OL8nPTs1TslJKVNJRArPjSyoLUoECTqmJRalFQNGi1LSi1OIMuMq81IoSoHBqRUEmUDw+EyhmbGZgUAsA"

    private func refresh(_ body: [UInt8], _ coding: String?, status: Int = 200) async throws -> TokenAttempt {
        var fields = HTTPFields()
        fields[.contentEncoding] = coding
        let reply = HTTPReply(response: HTTPResponse(status: .init(code: status), headerFields: fields), body: body)
        let transport = ScriptedTransport(reply)
        let endpoint = TokenEndpoint(
            binding: try Sample.binding(.none, rules: .rfc), transport: transport, now: { Sample.start })
        let attempt = await endpoint.refresh(try Sample.exchange(), context: ClassificationContext())
        #expect(transport.sent.allSatisfy { $0.request.headerFields[.acceptEncoding] == "identity" })
        return attempt
    }

    private func bytes(_ base64: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: base64))) }

    @Test(arguments: [
        (gzip, "gzip"), (gzip, "x-gzip"), (gzip, "GZIP"), (gzip, "identity, gzip"), (gzip, nil), (zlib, "deflate"),
        (bare, "deflate"),
    ])
    func whatIsPackedIsRead(_ packed: String, _ coding: String?) async throws {
        let attempt = try await refresh(try bytes(packed), coding)
        guard case .success(let issued) = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
        #expect(issued.refreshToken?.reveal() == "next")
    }

    /// A proxy has unpacked it and left the field.
    @Test func aFieldAloneMeansNothing() async throws {
        let attempt = try await refresh(Array(Sample.good().utf8), "gzip")
        guard case .success = attempt.outcome else {
            Issue.record("\(attempt.outcome)")
            return
        }
    }

    /// The reply may hold the only copy of the next refresh token: it is a doubt, and kept.
    @Test(arguments: ["br", "gzip, gzip", "deflate"])
    func whatCannotBeUnpackedIsADoubt(_ coding: String) async throws {
        let attempt = try await refresh([0x1F, 0x8B, 0, 1, 2], coding)
        #expect(attempt.leavesDoubt)
        #expect(attempt.answer(hiding: [])?.failure == .undecodable)
    }

    @Test func aStatusSaysWhatItSays() async throws {
        let attempt = try await refresh([0x1F, 0x8B, 0, 1, 2], "br", status: 503)
        #expect(attempt.answer(hiding: [])?.status == 503)
    }

    /// 64 KiB of zeros are 100 bytes when they are packed.
    @Test func aBombIsAnError() async throws {
        let reply = HTTPReply(
            response: HTTPResponse(status: .ok, headerFields: [.contentEncoding: "gzip"]), body: try bytes(Self.gzip))
        let transport = ScriptedTransport(reply)
        var binding = try Sample.binding(.none, rules: .rfc)
        binding.limits.bodyBytes = 40
        let endpoint = TokenEndpoint(binding: binding, transport: transport, now: { Sample.start })
        let attempt = await endpoint.refresh(try Sample.exchange(), context: ClassificationContext())
        #expect(attempt.answer(hiding: [])?.failure == .tooLarge)
        #expect(attempt.leavesDoubt)
    }

    @Test func whatIsKeptIsSearchedUnpacked() throws {
        let packed = try bytes(Self.gzip)
        #expect(SalvagedTokens.mayBe(in: packed))
        #expect(SalvagedTokens.find(in: packed, isComplete: true).map { $0.reveal() } == ["next"])
        // Cut off, as far as it goes.
        let part = SalvagedTokens.unpacked(Array(packed.dropLast(12)))
        #expect(part.starts(with: Array("{\"access".utf8)))
        #expect(SalvagedTokens.unpacked([1, 2, 3]) == [1, 2, 3])
    }
}
