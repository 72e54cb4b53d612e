import DevAuthorizationServer
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP

/// Step-up and rich requests at a real server.
struct StepUpWireTests {
    @Test func anotherLogInOpensTheResource() async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.resourceContextClasses = ["urn:mfa", "urn:key"]
        configuration.resourceMaximumAge = .seconds(300)
        try await ResourceWorld.with(configuration) { world in
            let weak = try await world.logIn()
            let refused = try await world.client.send(world.request(), for: .login(weak.id))
            #expect(refused.head.status == .unauthorized)
            let challenge = try #require(refused.stepUp)
            #expect(challenge.contextClasses == ["urn:mfa", "urn:key"])
            #expect(challenge.maximumAge == .seconds(300))
            #expect(world.renewals == 0)
            try await world.users.vault.changeProvider(named: "dev", world.authorizationEndpoint())
            var parameters = challenge.logInParameters
            parameters.authorizationDetails = #"[{"type":"payment"}]"#
            parameters.maximumAge = nil
            let begun = try await world.users.beginLogIn(
                LogInRequest(
                    userId: "bob", provider: "dev", redirectURI: RedirectURI("http://127.0.0.1/callback"),
                    parameters: parameters))
            let strong = try await world.users.completeLogIn(
                .url(try await world.visit(begun.url)), boundTo: begun.binding
            ).login
            #expect(strong.authorizationDetails == #"[{"type":"payment"}]"#)
            #expect(try await world.client.send(world.request(), for: .login(strong.id)).head.status == .ok)
            world.server.advanceClock(by: .seconds(301))
            #expect(try await world.client.send(world.request(), for: .login(strong.id)).stepUp != nil)
        }
    }
}

extension ResourceWorld {
    fileprivate func authorizationEndpoint() throws -> ProviderChange {
        var change = ProviderChange()
        change.authorizationEndpoint = .set(try server.endpoint("/authorize"))
        return change
    }

    /// The user's browser at a server that approves at once.
    fileprivate func visit(_ url: String) async throws -> String {
        let path = String(url.dropFirst("http://127.0.0.1:\(server.port)".count))
        let transport = AsyncHTTPTransport(options: .loopback)
        let reply = try await transport.send(request(path: path), body: [], limits: .tokenEndpoint)
        await transport.shutdown()
        return try #require(reply.response.headerFields[.location])
    }
}
