import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// Which of several client secrets is taken, found out without a token that could be spent.
struct SecretTrialTests {
    private func binding(_ change: (inout ServerBinding) -> Void = { _ in }) throws -> ServerBinding {
        var binding = try Sample.binding(.clientSecretBasic(ClientSecret("secret-CANARY-1")))
        binding.alternatives = [
            .clientSecretBasic(try ClientSecret("secret-CANARY-2")),
            .clientSecretBasic(try ClientSecret("secret-CANARY-3")),
        ]
        change(&binding)
        return binding
    }

    private func run(_ replies: [HTTPReply]) async throws -> (SecretTrial.Finding?, ScriptedTransport) {
        let transport = ScriptedTransport(replies.map { .reply($0) })
        let trial = SecretTrial(
            endpoint: try Sample.endpoint("https://server.example.com/revoke"), binding: try binding(),
            transport: transport, now: { Sample.start })
        return (await trial?.run(), transport)
    }

    private static var refused: HTTPReply { reply(401, Sample.error("invalid_client")) }

    @Test func theSecretThatIsTakenIsFound() async throws {
        let (finding, transport) = try await run([Self.refused, reply(200)])
        #expect(finding == .other(1))
        let (last, _) = try await run([Self.refused, reply(400, Sample.error("unauthorized_client")), reply(200)])
        #expect(last == .other(2))
        // What is asked about never was a token of anybody.
        let tokens = transport.sent.compactMap { $0.form["token"] }
        #expect(tokens.count == 2)
        #expect(tokens.allSatisfy { $0.hasPrefix("no-such-token-") })
        #expect(Set(tokens).count == 2)
        #expect(transport.sent.allSatisfy { $0.request.path == "/revoke" && $0.form["refresh_token"] == nil })
        let used = transport.sent.compactMap { $0.request.headerFields[.authorization] }
        #expect(
            used
                == ["client:secret-CANARY-1", "client:secret-CANARY-2"].map {
                    "Basic " + Data($0.utf8).base64EncodedString()
                })
    }

    @Test func aServerThatTakesEverythingHasToldNothing() async throws {
        let (finding, transport) = try await run([reply(200)])
        #expect(finding == .first)
        #expect(transport.sent.count == 1)
    }

    @Test(arguments: [503, 429, 404, 302])
    func everythingElseSaysNothing(_ status: Int) async throws {
        let (finding, transport) = try await run([Self.refused, reply(status)])
        #expect(finding == .unknown)
        #expect(transport.sent.count == 2)
        let (none, _) = try await run([Self.refused, Self.refused, Self.refused])
        #expect(none == .refused)
    }

    @Test func whereNothingCanBeLearntNothingIsAsked() throws {
        let url = try Sample.endpoint("https://server.example.com/revoke")
        func trial(_ endpoint: EndpointURL?, _ change: (inout ServerBinding) -> Void) throws -> SecretTrial? {
            SecretTrial(
                endpoint: endpoint, binding: try binding(change), transport: ScriptedTransport([]),
                now: { Sample.start })
        }
        #expect(try trial(url) { _ in } != nil)
        #expect(try trial(nil) { _ in } == nil)
        // One secret alone can be asked about, too.
        #expect(try trial(url) { $0.alternatives = [] } != nil)
        #expect(try trial(url) { $0.revocation.authentication = .none } == nil)
        #expect(try trial(url) { $0.revocation.carrier = .bearer } == nil)
        #expect(try trial(url) { $0.revocation.doneStatuses = [200, 404] } == nil)
        #expect(try trial(url) { $0.rules.successMember = "ok" } == nil)
    }
}
