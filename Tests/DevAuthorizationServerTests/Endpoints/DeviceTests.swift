import DevAuthorizationServer
import Foundation
import Testing

/// RFC 8628.
struct DeviceTests {
    private func begin(
        _ server: DevAuthorizationServer, _ more: [(String, String)] = []
    ) async throws -> (code: String, userCode: String) {
        let reply = try await Wire.post(
            server.base + "/device_authorization", [("client_id", "demo"), ("scope", "read")] + more)
        #expect(reply.status == 200)
        #expect(reply.header("cache-control") == "no-store")
        #expect(try reply.json["interval"] as? Int == 5)
        #expect(try reply.string("verification_uri") == server.base + "/device")
        return (try #require(try reply.string("device_code")), try #require(try reply.string("user_code")))
    }

    private func poll(
        _ server: DevAuthorizationServer, _ code: String, client: String = "demo", _ more: [(String, String)] = []
    ) async throws -> WireReply {
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        return try await Wire.post(
            server.base + "/token", [("grant_type", grant), ("client_id", client), ("device_code", code)] + more)
    }

    @Test func aDeviceGetsItsTokensOnceItsUserHasApproved() async throws {
        try await withServer { server async throws in
            let (code, userCode) = try await begin(server)
            #expect(try await poll(server, code).error == "slow_down")
            server.advanceClock(by: .seconds(10))
            #expect(try await poll(server, code).error == "authorization_pending")
            // The five seconds that were added stay.
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, code).error == "slow_down")
            #expect(server.decideDevice(userCode: userCode.lowercased().replacing("-", with: " "), user: "bob"))
            #expect(!server.decideDevice(userCode: userCode, user: nil))
            server.advanceClock(by: .seconds(60))
            #expect(try await poll(server, code, client: "demo-x").error == "invalid_client")
            let tokens = try await poll(server, code)
            #expect(tokens.status == 200)
            #expect(try tokens.string("refresh_token") != nil)
            #expect(server.grants.map(\.user) == ["bob"])
            server.advanceClock(by: .seconds(60))
            #expect(try await poll(server, code).error == "invalid_grant")
        }
    }

    @Test func aRefusalAndTheEndOfTheTimeAreTold() async throws {
        try await withServer { server async throws in
            let (refused, userCode) = try await begin(server)
            #expect(server.decideDevice(userCode: userCode, user: nil))
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, refused).error == "access_denied")
            let (late, other) = try await begin(server)
            server.advanceClock(by: .seconds(600))
            #expect(try await poll(server, late).error == "expired_token")
            #expect(!server.decideDevice(userCode: other, user: "alice"))
            #expect(try await poll(server, "dc_unknown").error == "invalid_grant")
        }
    }

    @Test func aChallengeIsHeldTo() async throws {
        try await withServer { server async throws in
            let challenge = [("code_challenge", Client.challenge), ("code_challenge_method", "S256")]
            let (code, userCode) = try await begin(server, challenge)
            server.decideDevice(userCode: userCode, user: "alice")
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, code).error == "invalid_request")
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, code, [("code_verifier", Client.verifier)]).status == 200)
        }
    }

    @Test func aPersonApprovesOnAPage() async throws {
        try await withServer { server async throws in
            let (code, userCode) = try await begin(server)
            let page = server.base + "/device"
            #expect(try await Wire.get(page).text.contains("Code shown by the device"))
            #expect(try await Wire.get(page + "?user_code=XXXX-XXXX").status == 400)
            let question = try await Wire.get(page + "?user_code=" + userCode)
            #expect(question.text.contains(userCode))
            #expect(question.header("content-security-policy")?.contains("form-action 'self'") == true)
            let ticket = try #require(question.text.firstMatch(of: /name="ticket" value="([^"]+)"/)?.1)
            let form = [("ticket", String(ticket)), ("user", "carol"), ("decision", "approve")]
            #expect(try await Wire.post(page, form).text.contains("Your device is logged in."))
            #expect(try await Wire.post(page, form).status == 400)
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, code).status == 200)
            #expect(server.grants.map(\.user) == ["carol"])
        }
    }

    @Test func aProgramDecidesThroughControl() async throws {
        try await withServer { server async throws in
            let (code, userCode) = try await begin(server)
            let url = server.base + "/dev/devices/" + userCode
            #expect(try await Wire.send("POST", url + "/approve", body: #"{"user":"dave"}"#).status == 204)
            #expect(try await Wire.send("POST", url + "/deny", body: "{}").status == 404)
            server.advanceClock(by: .seconds(6))
            #expect(try await poll(server, code).status == 200)
        }
    }
}
