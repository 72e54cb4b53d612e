import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// The events that are taken from Twilio, in detail; its sentences are in OtherSDKs.
struct TwilioTests {
    @Test func willExpireComesThreeMinutesBeforeExpiry() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.pass(.seconds(3_600 - 181))
        await #expect(watcher.events().isEmpty)
        world.pass(.seconds(1))
        let events = await watcher.events()
        #expect(events.map(\.kind) == [.willExpire(at: world.now.addingTimeInterval(180))])
        #expect(events.first?.login == login.id)
        #expect(events.first?.userId == "alice")
        #expect(events.first?.generation == 1)
        #expect(events.first?.date == world.now)
    }

    @Test func expiredComesAtExpiry() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.pass(.milliseconds(3_599_999))
        await #expect(watcher.names() == ["willExpire 1"])
        world.pass(.milliseconds(1))
        await #expect(watcher.names() == ["expired 1", "tokenExpired 1"])
        world.pass(.seconds(100_000))
        await #expect(watcher.names() == [])
    }

    @Test func updatedComesAfterTheNewTokenIsStored() async throws {
        let world = try await World()
        let process = try await world.faulty()
        let login = try await world.addChain()
        let events = process.users.events(of: .login(login.id))
        let first = Task {
            for await event in events { return event as SessionEvent? }
            return nil
        }
        // The first commit of the tokens fails; nobody may hear of them before one has succeeded.
        process.store.fail([.before, .before], afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        let renewal = Task { try await process.users.accessToken(for: .login(login.id), .renewed) }
        let event = await world.withTimePassing { await first.value }
        #expect(event?.kind == .updated)
        #expect(event?.generation == 2)
        await #expect(try world.vault.store.login(login.id.handle).position.generation == 2)
        await #expect(try process.users.validAccessToken(for: .login(login.id))?.name == "2")
        #expect(process.store.failedCommits == 2)
        _ = try await renewal.value
    }

    @Test func aTokenThatCannotBeStoredIsNotTold() async throws {
        let world = try await World()
        let process = try await world.faulty()
        let login = try await world.addChain()
        let watcher = await Watcher(process.vault, login)
        process.store.fail([.before], afterCommits: 0)
        let failure = await code {
            try await process.users.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: nil)
        }
        #expect(failure == .storageFull)
        await #expect(watcher.names() == [])
    }

    @Test func tokenSetWithinThreeMinutesOfExpiryWarnsAtOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        try await world.set(login, lifetime: .seconds(179))
        await #expect(watcher.names() == ["updated 2", "willExpire 2"])
        world.pass(.seconds(179))
        await #expect(watcher.names() == ["expired 2", "tokenExpired 2"])
    }

    @Test func setAlreadyExpiredWillExpireComesThenExpired() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        try await world.set(login, lifetime: .seconds(-5))
        await #expect(watcher.names() == ["updated 2", "willExpire 2", "expired 2", "tokenExpired 2"])
        world.pass(.seconds(1_000))
        await #expect(watcher.names() == [])
    }

    @Test func updateTokenReArmsAndCancelsWhatWasPending() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(600))
        let watcher = await Watcher(world.vault, login)
        world.pass(.seconds(430))
        await #expect(watcher.names() == ["willExpire 1"])
        try await world.set(login, lifetime: .seconds(3_600))
        await #expect(watcher.names() == ["updated 2"])
        // The old token's end passes in silence.
        world.pass(.seconds(3_600 - 181))
        await #expect(watcher.names() == [])
        world.pass(.seconds(1))
        await #expect(watcher.names() == ["willExpire 2"])
        world.pass(.seconds(180))
        await #expect(watcher.names() == ["expired 2", "tokenExpired 2"])
        try await world.set(login, "again", lifetime: .seconds(60))
        await #expect(watcher.names() == ["updated 3", "established 3", "willExpire 3"])
    }

    @Test func timelyUpdateCancelsExpiryWithoutAReadBetween() async throws {
        let world = try await World()
        let (_, other) = try await world.anotherProcess()
        let login = try await world.addChain(lifetime: .seconds(600))
        let watcher = await Watcher(world.vault, login)
        world.time.advance(by: .seconds(599))
        _ = try await other.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        world.time.advance(by: .seconds(60))
        await #expect(watcher.names() == ["willExpire 1", "updated 2"])
    }

    @Test func anyNumberOfRegisteredObserversEachGetEachUpdate() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let scopes: [FeedScope] = [.login(login.id.handle), .user("alice"), .all]
        var watchers: [Watcher] = []
        for index in 0..<30 { watchers.append(await Watcher(world.vault, scopes[index % 3])) }
        for round in 2...4 {
            try await world.set(login, "\(round)")
            for watcher in watchers { await #expect(watcher.names() == ["updated \(round)"]) }
        }
        world.pass(.seconds(3_600 - 180))
        for watcher in watchers { await #expect(watcher.names() == ["willExpire 4"]) }
    }

    @Test func errorForAnUnusableToken() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        await world.vault.sessions.post(.unusableToken(login: login.id.handle, .invalidArgument))
        await #expect(watcher.names() == ["error(invalidArgument) 1"])
        try await world.users.disableUser("alice")
        _ = await watcher.events()
        #expect(await code { try await world.set(login) } == .userDisabled)
        await #expect(watcher.names() == ["error(userDisabled) 2"])
    }

    @Test func whoRegistersLateIsToldWhatHadComeDue() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(600))
        let first = await Watcher(world.vault, login)
        world.pass(.seconds(500))
        await #expect(first.names() == ["willExpire 1"])
        let second = await Watcher(world.vault, login)
        await #expect(second.names() == ["willExpire 1"])
        world.pass(.seconds(100))
        let third = await Watcher(world.vault, .user("alice"))
        await #expect(third.names() == ["willExpire 1", "expired 1"])
        for watcher in [first, second] { await #expect(watcher.names() == ["expired 1", "tokenExpired 1"]) }
        for watcher in [first, second, third] { await #expect(watcher.names() == []) }
    }

    @Test func theLeadIsWhatTheAppSays() async throws {
        let options = SessionEventOptions(willExpireLead: .seconds(1_000))
        let world = try await World()
        let vault = Vault(
            path: world.vault.path, store: world.vault.store, timeSource: world.time, logger: world.logs.logger,
            sessionEvents: options)
        let login = try await world.addChain()
        let watcher = await Watcher(vault, login)
        world.time.advance(by: .seconds(2_599))
        await #expect(watcher.names() == [])
        world.time.advance(by: .seconds(1))
        await #expect(watcher.names() == ["willExpire 1"])
    }
}
