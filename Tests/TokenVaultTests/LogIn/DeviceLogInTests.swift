import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting

@testable import TokenVault

/// RFC 8628.
struct DeviceLogInTests {
    private func world(dpop: DPoPPolicy = .optional) async throws -> World {
        var provider = Sample.provider(dpop: dpop)
        provider.deviceAuthorizationEndpoint = try EndpointURL("https://acme.example/device_authorization")
        return try await World(provider: provider)
    }

    private func codes(_ more: String = #","interval":5"#) -> ScriptedReply {
        .json(
            """
            {"device_code":"CANARY-device","user_code":"WDJB-MJHT","verification_uri":"https://acme.example/device",\
            "verification_uri_complete":"https://acme.example/device?user_code=WDJB-MJHT","expires_in":600\(more)}
            """)
    }

    @Test func theUserApprovesElsewhere() async throws {
        let world = try await world()
        world.transport.enqueue(codes())
        var parameters = LogInParameters()
        parameters.resources = ["https://api.example"]
        let device = try await world.users.beginDeviceLogIn(
            LogInRequest(userId: "alice", provider: "acme", label: "tv", parameters: parameters, context: ["room": "4"])
        )
        #expect(device.userCode == "WDJB-MJHT")
        #expect(device.verificationURI == "https://acme.example/device")
        #expect(device.verificationURIComplete == "https://acme.example/device?user_code=WDJB-MJHT")
        #expect(device.expiresAt == world.now.addingTimeInterval(600))
        #expect(device.interval == .seconds(5))
        let asked = try #require(world.transport.requests.first)
        #expect(asked.request.path == "/device_authorization")
        #expect(asked.form["scope"] == "read write")
        #expect(asked.form["resource"] == "https://api.example")
        #expect(asked.request.headerFields[.authorization]?.hasPrefix("Basic ") == true)
        let pending = ScriptedReply.error("authorization_pending")
        world.transport.enqueue(pending, pending, .generation("1"))
        let done = try await world.withTimePassing { try await world.users.completeDeviceLogIn(device) }
        #expect(done.login.label == "tv")
        #expect(done.context == ["room": "4"])
        #expect(world.transport.requestCount == 4)
        let poll = try #require(world.transport.requests.last)
        #expect(poll.form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
        #expect(poll.form["device_code"] == "CANARY-device")
        #expect(poll.form["resource"] == "https://api.example")
        #expect(poll.form["code_verifier"] == nil)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(!"\(device)".contains("CANARY") && !String(reflecting: device).contains("CANARY"))
        #expect(!world.logs.text.contains("CANARY"))
    }

    @Test func thePaceIsWhatTheServerWants() {
        var pace = DevicePace(interval: .seconds(5))
        pace.slowDown()
        #expect(pace.interval == .seconds(10))
        pace.backOff(retryAfter: nil)
        #expect(pace.interval == .seconds(20))
        pace.backOff(retryAfter: .seconds(60))
        #expect(pace.interval == .seconds(60))
        pace.slowDown()
        #expect(pace.interval == .seconds(65))
        for _ in 0..<100 { pace.backOff(retryAfter: nil) }
        #expect(pace.interval == .seconds(86_400))
    }

    @Test func aLostConnectionAndASlowServerAreAskedLessOften() async throws {
        let world = try await world()
        world.transport.enqueue(codes())
        let device = try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let start = world.time.uptime()
        world.transport.enqueue(
            .error("authorization_pending"), .error("slow_down"), .failure(.maybeSent, .timeout),
            .status(.serviceUnavailable), .generation("1"))
        _ = try await world.withTimePassing { try await world.users.completeDeviceLogIn(device) }
        // 5, 5, 10 after slow_down, 20 after the lost one, 40 after the error.
        let took = world.time.uptime() - start
        #expect(took >= .seconds(80) && took < .seconds(90))
        #expect(world.transport.requestCount == 6)
    }

    @Test(arguments: [
        ("access_denied", "logInRefused"), ("expired_token", "logInExpired"), ("invalid_grant", "logInRefused"),
    ])
    func aRefusalIsTheEnd(error: String, code expected: String) async throws {
        let world = try await world()
        world.transport.enqueue(codes(), .error(error))
        let device = try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let found = await world.withTimePassing { await code { try await world.users.completeDeviceLogIn(device) } }
        #expect(found?.name == expected)
        #expect(world.transport.requestCount == 2)
    }

    @Test func afterItsTimeNothingIsAsked() async throws {
        let world = try await world()
        world.transport.enqueue(codes(#","interval":400"#), .error("authorization_pending"))
        let device = try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let found = await world.withTimePassing { await code { try await world.users.completeDeviceLogIn(device) } }
        #expect(found == .logInExpired)
        #expect(world.transport.requestCount == 2)
    }

    @Test func aBoundLogInKeepsItsKeyAndTheServersNonce() async throws {
        let world = try await world(dpop: .required)
        world.transport.enqueue(codes())
        let device = try await world.users.beginDeviceLogIn(
            LogInRequest(userId: "alice", provider: "acme"), usesPKCE: true)
        let challenge = try #require(world.transport.requests.first?.form["code_challenge"])
        world.transport.enqueue(
            .error("use_dpop_nonce", headers: [.dpopNonce: "n-1"]), .error("authorization_pending"),
            .tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1", tokenType: "DPoP"))
        let login = try await world.withTimePassing { try await world.users.completeDeviceLogIn(device).login }
        #expect(login.isDPoPBound)
        let last = try #require(world.transport.requests.last)
        #expect(try CodeVerifier(try #require(last.form["code_verifier"])).challenge.rawValue == challenge)
        #expect(last.request.headerFields[.dpop] != nil)
    }

    @Test func aProviderWithoutTheEndpointIsNotAsked() async throws {
        let world = try await World()
        #expect(
            await code { try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme")) }
                == .providerMisconfigured)
        #expect(world.transport.requestCount == 0)
    }

    @Test(arguments: [
        #"{"device_code":"d","user_code":"a\u001b[31m","verification_uri":"https://acme.example/d","expires_in":60}"#,
        #"{"device_code":"d","user_code":"a","verification_uri":"http://acme.example/d","expires_in":60}"#,
        #"{"device_code":"d","user_code":"a","verification_uri":"javascript:alert(1)","expires_in":60}"#,
        #"{"device_code":"d","user_code":"a","verification_uri":"https://acme.example/d","expires_in":0}"#,
        #"{"user_code":"a","verification_uri":"https://acme.example/d","expires_in":60}"#, "[]", "",
    ])
    func whatCannotBeShownToAPersonIsNoAnswer(body: String) async throws {
        let world = try await world()
        world.transport.enqueue(.json(body))
        #expect(
            await code { try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme")) }
                == .tryLater)
    }

    @Test func aCancelledWaitEnds() async throws {
        let world = try await world()
        world.transport.enqueue(codes())
        let device = try await world.users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let task = Task { try await world.users.completeDeviceLogIn(device) }
        await world.time.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(world.transport.requestCount == 1)
    }
}
