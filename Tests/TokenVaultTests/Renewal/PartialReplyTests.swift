import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

/// Replies that moved the chain on, or may have, and cannot be used as they are.
struct PartialReplyTests {
    private func successor(_ name: String) -> ScriptedReply {
        .json(#"{"refresh_token":"CANARY-\#(name)","token_type":"Bearer"}"#)
    }

    /// A new refresh token each time, and never an access token.
    private func sendSuccessorsOnly(in world: World) {
        let count = Box(0)
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            count.value += 1
            return try await self.successor("s\(count.value)").reply(to: request)
        }
    }

    // MARK: A successor without an access token

    @Test func aSecondSuccessorInARowPostponesTheLogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        sendSuccessorsOnly(in: world)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .protocolViolation)
        for _ in 0..<10 {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        }
        #expect(world.transport.requestCount == 2)
        // Each time twice as long.
        var waits: [Double] = []
        for _ in 0..<4 {
            let notBefore = try #require(try await world.vault.login(login.id).notBefore)
            waits.append(notBefore.timeIntervalSince(world.now))
            world.time.advance(by: .seconds(notBefore.timeIntervalSince(world.now)))
            _ = try? await world.users.accessToken(for: .login(login.id))
        }
        #expect(waits == [1, 2, 4, 8])
        world.time.advance(by: .seconds(60))
        world.transport.fallback = .generation("good")
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "good")
    }

    @Test func forAResourceItIsPostponedToo() async throws {
        let world = try await World()
        let login = try await world.addChain()
        sendSuccessorsOnly(in: world)
        for _ in 0..<5 {
            _ = try? await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://api.example"))
        }
        #expect(world.transport.requestCount == 2)
        world.time.advance(by: .seconds(1))
        _ = try? await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://api.example"))
        let notBefore = try await #require(try world.vault.login(login.id).notBefore)
        #expect(notBefore.timeIntervalSince(world.now) == 2)
    }

    /// `{"error":"invalid_grant","refresh_token":<what was sent>}`: a refusal that echoes is a refusal.
    @Test func aRefusalThatEchoesTheTokenEndsTheLoginOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.fallback = .json(#"{"error":"invalid_grant","refresh_token":"CANARY-refresh-1"}"#)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.vault.login(login.id).failure?.reason == .deadGrant)
    }

    // MARK: A refresh token that cannot be sent

    private func good(_ refreshToken: String) -> ScriptedReply {
        .json(
            #"{"access_token":"CANARY-access-2","token_type":"Bearer","expires_in":3600,"refresh_token":\#(refreshToken)}"#
        )
    }

    @Test(arguments: ["7", "true", #"["CANARY-a"]"#, #"{"token":"CANARY-a"}"#])
    func oneThatCannotBeSentLeavesADoubtAndTheAccessToken(_ value: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(good(value))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        let stored = try await world.vault.login(login.id)
        #expect(stored.isInDoubt)
        // While its token is good, nothing is sent: neither by callers nor by recovery nor by the scheduler.
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        _ = try await world.users.recover()
        #expect(try await RenewalScheduler(world.users).runOnce().renewed == 0)
        #expect(world.transport.requestCount == 1)
        let replies = try await world.vault.unusableReplies(of: login.id)
        #expect(replies.count == 1)
        #expect(replies.first?.isCurrent == true)
        #expect(
            String(decoding: try await world.users.revealUnusableReply(replies[0].id, of: login.id), as: UTF8.self)
                .contains(value))
        // Over a restart, too.
        let other = try await world.anotherProcess()
        world.expire()
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await other.users.accessToken(for: .login(login.id)) } == .lostResponse)
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-1")
        await other.vault.close()
    }

    @Test func itIsSettledByTheNextSuccess() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(good("7"), .generation("3"), .error("invalid_grant"))
        _ = try await world.users.accessToken(for: .login(login.id))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        await #expect(try !world.vault.login(login.id).isInDoubt)
        await #expect(try world.vault.unusableReplies(of: login.id).isEmpty)
    }

    @Test func whereASecondUseWouldHarmOthersItIsNotUsedAgain() async throws {
        let world = try await World(
            provider: World.provider(refresh: #"{"rotation":"always","reuseBlast":"clientUser"}"#))
        let login = try await world.addChain(name: "1")
        try await world.addChain(name: "9")
        world.time.advance(by: .seconds(3_400))
        world.transport.enqueue(good("7"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .lostResponse)
        #expect(world.transport.requestCount == 1)
    }

    @Test func anOperatorCanTakeATokenFromIt() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(good(#"{"refresh_token":"CANARY-inner"}"#), .generation("3"))
        _ = try await world.users.accessToken(for: .login(login.id))
        let reply = try await #require(try world.vault.unusableReplies(of: login.id).first)
        try await world.users.useUnusableReply(reply.id, of: login.id)
        world.expire()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-inner")
    }

    @Test(arguments: [#"CANARY-a\r\nb"#, #"CANARY-a\u0000b"#, #"CANARY-\u00e9"#, String(repeating: "C", count: 70_000)])
    func anUnusualOneIsKeptAndSentAsItCame(_ escaped: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(good("\"\(escaped)\""), .generation("3"))
        _ = try await world.users.accessToken(for: .login(login.id))
        await #expect(try !world.vault.login(login.id).isInDoubt)
        let other = try await world.anotherProcess()
        world.expire()
        #expect(try await other.users.accessToken(for: .login(login.id)).name == "3")
        let plain = escaped.replacing(#"\r\n"#, with: "\r\n").replacing(#"\u0000"#, with: "\u{0}")
            .replacing(#"\u00e9"#, with: "\u{e9}")
        #expect(world.transport.requests.last?.form["refresh_token"] == plain)
        await other.vault.close()
    }

    /// A vault that cannot take the reply keeps the doubt with it.
    @Test func theDoubtSurvivesTheSpool() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        world.expire()
        world.transport.enqueue(good("7"))
        process.store.fail([.before, .before], afterCommits: 1)
        #expect(
            try await world.withTimePassing { try await process.users.accessToken(for: .login(login.id)).name } == "2")
        while try await world.stored(login).position.generation < 2 {
            world.time.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(try await world.vault.login(login.id).isInDoubt)
    }

    // MARK: An end in the past

    @Test func anIntrospectedEndInThePastPostponesTheLogin() async throws {
        var registration = try World.profile(#""reply":{"introspectsLifetime":true}"#)
        registration.introspectionEndpoint = try EndpointURL("https://acme.example/introspect")
        let world = try await World(provider: registration)
        let login = try await world.addChain()
        world.expire()
        let end = Int(world.now.timeIntervalSince1970) - 60
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let reply: ScriptedReply =
                request.path == "/introspect"
                ? .json(#"{"active":true,"exp":\#(end)}"#) : .generation("2", expiresIn: nil)
            return try await reply.reply(to: request)
        }
        _ = try? await world.users.accessToken(for: .login(login.id))
        await world.transport.waitForRequests(2)
        while try await world.stored(login).session.expiresAt == nil, !Task.isCancelled { await Task.yield() }
        for _ in 0..<10 { _ = try? await world.users.accessToken(for: .login(login.id)) }
        #expect(world.transport.requests.count { $0.path == "/token" } == 1)
    }
}
