import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

import TokenVault

/// Replies that nobody could use, and what an operator makes of them.
@Suite(.tags(.everyEngine))
struct SalvageTests {
    private static let cut = #"{"token_type":"Bearer","refresh_token":"CANARY-refresh-2","access_tok"#

    /// A provider that is not asked a second time.
    private func world() async throws -> (World, Login) {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always","replay":"never"}"#))
        let login = try await world.addChain()
        world.expire()
        return (world, login)
    }

    private func renew(_ world: World, _ login: Login) async -> VaultError.Code? {
        await world.withTimePassing { await code { try await world.users.accessToken(for: .login(login.id)) } }
    }

    @Test func whatCameIsKeptWithTheReason() async throws {
        let (world, login) = try await world()
        world.transport.enqueue(.json(Self.cut))
        #expect(await renew(world, login) == .tryLater)
        let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
        #expect(reply.status == 200)
        #expect(reply.contentType == "application/json")
        #expect(reply.cause == "the body cannot be read")
        #expect(reply.byteCount == Self.cut.utf8.count)
        #expect(reply.isComplete && reply.isCurrent)
        #expect(reply.refreshTokenCount == 1)
        #expect(!"\(reply)".contains(Sample.marker))
        #expect(try await world.vault.store.verify().findings == [])
        let body = try await world.users.revealUnusableReply(reply.id, of: login.id)
        #expect(String(decoding: body, as: UTF8.self) == Self.cut)
        await #expect(try world.tale().last == "replyRevealed reply=\(reply.id)")
    }

    @Test func aPartOfAReplyIsKeptAsOne() async throws {
        let (world, login) = try await world()
        let response = HTTPResponse(status: .ok)
        world.transport.enqueue(
            ScriptedReply { _ throws(HTTPTransportError) in
                throw HTTPTransportError(
                    .maybeSent, .reset, received: HTTPReply(response: response, body: Array(Self.cut.utf8)))
            })
        #expect(await renew(world, login) == .tryLater)
        let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
        #expect(!reply.isComplete)
        #expect(reply.cause == "the connection was closed")
    }

    @Test func aLoginInDoubtGoesOnWithTheTokenThatWasSalvaged() async throws {
        let (world, login) = try await world()
        world.transport.enqueue(.json(Self.cut), .generation("3"))
        #expect(await renew(world, login) == .tryLater)
        let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
        try await world.users.useUnusableReply(reply.id, of: login.id)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        await #expect(try world.tale().contains("replySalvaged reply=\(reply.id)"))
        // The chain has moved on.
        #expect(try await world.vault.store.unusableReplies(of: login.id.handle).isEmpty)
        #expect(await code { try await world.users.useUnusableReply(reply.id, of: login.id) } == .unknownReply)
    }

    @Test func aLoginThatDiedOfALostResponseLivesAgain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.json(Self.cut), .error("invalid_grant"), .generation("3"))
        #expect(await renew(world, login) == .lostResponse)
        let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
        #expect(reply.isCurrent)
        try await world.users.useUnusableReply(reply.id, of: login.id)
        await #expect(try world.vault.login(login.id).failure == nil)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        #expect(try await world.vault.store.unusableReplies(of: login.id.handle).isEmpty)
    }

    @Test func aLoginWhoseKeyWasDestroyedStaysDead() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.expire()
        world.transport.enqueue(.json(Self.cut), .error("invalid_grant"))
        #expect(await renew(world, login) == .lostResponse)
        let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
        #expect(await code { try await world.users.useUnusableReply(reply.id, of: login.id) } == .notRefreshable)
    }

    @Test func whatIsNoNextTokenIsNotTaken() async throws {
        for (body, expected) in [
            ("<html>", VaultError.Code.protocolViolation),
            (#"{"refresh_token":"a","refresh_token":"b""#, .protocolViolation),
            (#"{"refresh_token":"CANARY-refresh-1","acc"#, .conflict),
        ] {
            let (world, login) = try await world()
            world.transport.enqueue(.json(body))
            #expect(await renew(world, login) == .tryLater)
            let reply = try #require(try await world.vault.unusableReplies(of: login.id).first)
            #expect(await code { try await world.users.useUnusableReply(reply.id, of: login.id) } == expected)
        }
    }

    @Test func pagesOfGatewaysAreNotKept() async throws {
        let (world, login) = try await world()
        world.transport.enqueue(.status(.badGateway, body: "<html>down</html>"))
        #expect(await renew(world, login) == .tryLater)
        #expect(try await world.vault.unusableReplies(of: login.id).isEmpty)
        let (other, second) = try await self.world()
        other.transport.enqueue(.json(Self.cut, status: .badGateway))
        #expect(await renew(other, second) == .tryLater)
        #expect(try await other.vault.unusableReplies(of: second.id).map(\.cause) == ["the server failed"])
    }

    @Test func afterAWeekRecoveryErasesThem() async throws {
        let (world, login) = try await world()
        world.transport.enqueue(.json(Self.cut))
        #expect(await renew(world, login) == .tryLater)
        world.time.advance(by: .seconds(6 * 86_400))
        try await world.users.recover()
        #expect(try await world.vault.unusableReplies(of: login.id).count == 1)
        world.time.advance(by: .seconds(86_401))
        #expect(try await world.vault.unusableReplies(of: login.id).isEmpty)
        try await world.users.recover()
        #expect(try await world.vault.store.unusableReplies(of: login.id.handle).isEmpty)
    }

    @Test func theyGoWithTheLogin() async throws {
        let (world, login) = try await world()
        world.transport.enqueue(.json(Self.cut), .status(.ok))
        #expect(await renew(world, login) == .tryLater)
        try await world.users.logOut(.login(login.id))
        #expect(await code { try await world.vault.unusableReplies(of: login.id) } == .unknownLogin)
        #expect(try await world.vault.store.verify().findings == [])
    }
}
