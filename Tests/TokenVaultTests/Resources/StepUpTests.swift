import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting

@testable import TokenVault

/// RFC 9470, and what RFC 9396 says of replies.
struct StepUpTests {
    private func read(_ challenge: String, status: HTTPResponse.Status = .unauthorized) async throws -> (
        ResourceReply, World
    ) {
        let world = try await World()
        try await world.addChain()
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
        let token = try await world.users.authorize(&request, for: .user("alice"))
        let response = HTTPResponse(status: status, headerFields: [.wwwAuthenticate: challenge])
        return (await world.users.read(response, to: request, authorizedWith: token), world)
    }

    @Test func theChallengeSaysWhatToBeginALogInWith() async throws {
        let (reply, world) = try await read(
            #"Bearer error="insufficient_user_authentication", acr_values="urn:mfa phr", max_age="300", scope="pay""#)
        guard case .needsStepUp(let challenge) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(challenge.contextClasses == ["urn:mfa", "phr"])
        #expect(challenge.maximumAge == .seconds(300))
        #expect(challenge.scope?.description == "pay")
        // The token stays in use, and nothing is renewed.
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(world.transport.requestCount == 0)
        let begun = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", parameters: challenge.logInParameters))
        #expect(begun.url.contains("acr_values=urn%3Amfa+phr") || begun.url.contains("acr_values=urn%3Amfa%20phr"))
        #expect(begun.url.contains("max_age=300"))
    }

    @Test(arguments: [
        #"DPoP error="insufficient_user_authentication""#,
        #"Bearer error="insufficient_user_authentication", max_age="-1", acr_values="""#,
        #"Bearer error="insufficient_user_authentication", max_age="99999999999999999999", acr_values="é""#,
    ])
    func whatCannotBeUsedIsLeftOut(challenge: String) async throws {
        guard case .needsStepUp(let found) = try await read(challenge).0 else {
            Issue.record("no step-up")
            return
        }
        #expect(found.contextClasses.isEmpty && found.maximumAge == nil && found.scope == nil)
        #expect(found.logInParameters == LogInParameters())
    }

    @Test func anotherStatusIsNoChallenge() async throws {
        let (reply, _) = try await read(#"Bearer error="insufficient_user_authentication""#, status: .forbidden)
        #expect(reply == .final)
    }

    @Test func whatWasGrantedInDetailIsKept() async throws {
        let world = try await World()
        let details = #"[{"type":"payment","amount":"12.00"}]"#
        let login = try await world.addChain()
        world.transport.enqueue(
            .json(
                #"{"access_token":"CANARY-access-2","token_type":"Bearer","expires_in":3600,"authorization_details":"#
                    + details + "}"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(try await world.vault.login(login.id).authorizationDetails == details)
        // A token for one resource says nothing about the login.
        world.transport.enqueue(
            .json(
                #"{"access_token":"CANARY-access-3","token_type":"Bearer","expires_in":3600,"authorization_details":[]}"#
            ))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://api.example"))
        #expect(try await world.vault.login(login.id).authorizationDetails == details)
        for body in [#""x""#, #"{"a":1}"#, "[" + String(repeating: " ", count: 9_000) + "]"] {
            world.transport.enqueue(
                .json(
                    #"{"access_token":"CANARY-access-4","token_type":"Bearer","expires_in":3600,"authorization_details":"#
                        + body + "}"))
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
            #expect(try await world.vault.login(login.id).authorizationDetails == details)
        }
    }
}
