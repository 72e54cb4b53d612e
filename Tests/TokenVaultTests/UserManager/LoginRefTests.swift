import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting

import TokenVault

/// Which login and which token a call means.
@Suite(.tags(.everyEngine))
struct LoginRefTests {
    @Test func aUserAndAProviderNameTheOnlyLoginThere() async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        let login = try await world.addChain()
        let elsewhere = try await world.users.addLogin(
            userId: "alice", provider: "other", accessToken: Sample.accessToken("o"))
        #expect(await code { try await world.users.accessToken(for: .user("alice")) } == .ambiguousLogin)
        #expect(try await world.users.accessToken(for: .user("alice", provider: "acme")).login == login.id)
        #expect(try await world.users.accessToken(for: .user("alice", provider: "other")).login == elsewhere.id)
        let updated = try await world.users.updateAccessToken(
            for: .user("alice", provider: "other"), accessToken: Sample.accessToken("p"), expiresAt: nil)
        #expect(updated.id == elsewhere.id)
        try await world.users.logOut(.user("alice", provider: "acme"), revokes: false)
        #expect(try await world.users.accessToken(for: .user("alice")).login == elsewhere.id)
    }

    /// Refresh tokens and keys are left where they are.
    @Test func aReadOpensNothingButTheTokenThatIsMeant() async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        let login = try await world.addChain(dpopKey: .generate())
        _ = try await world.users.addLogin(
            userId: "alice", provider: "other", accessToken: Sample.accessToken("o"),
            refreshToken: Sample.refreshToken("o"))
        let intruder = try world.temporary.intruder()
        try intruder.blank("loginSecret", "refreshCell")
        let token = try await world.users.accessToken(for: .user("alice", provider: "acme"))
        #expect(token.login == login.id)
        // The key is needed for the proof, and is opened alone.
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/")
        try await world.users.authorize(&request, for: .user("alice", provider: "acme"))
        #expect(request.headerFields[values: .dpop].count == 1)
        try intruder.blank("loginSecret", "keyCell", where: "\"keyCell\" IS NOT NULL")
        #expect(
            await code { try await world.users.authorize(&request, for: .user("alice", provider: "acme")) }
                == .quarantined)
        // The other login does not open, and is in nobody's way.
        try intruder.blank("login", "cell", where: "\"refreshTag\" IS NOT NULL AND \"keyTag\" IS NULL")
        #expect(try await world.users.accessToken(for: .user("alice", provider: "acme")).login == login.id)
        #expect(
            await code { try await world.users.accessToken(for: .user("alice", provider: "other")) } == .quarantined)
    }

    /// A name that has meant a provider may mean another one later.
    @Test func aNameMeansTheProviderThatHasItNow() async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        let login = try await world.addChain()
        #expect(
            await code { try await world.users.accessToken(for: .user("alice", provider: "other")) } == .notLoggedIn)
        let (vault, users) = try await world.anotherProcess()
        try await vault.removeProvider(named: "other")
        try await vault.addProvider(Sample.provider(name: "other"))
        let elsewhere = try await users.addLogin(
            userId: "alice", provider: "other", accessToken: Sample.accessToken("o"))
        #expect(try await world.users.accessToken(for: .user("alice", provider: "other")).login == elsewhere.id)
        #expect(try await world.users.accessToken(for: .user("alice", provider: "acme")).login == login.id)
    }

    @Test func severalLoginsAtOneProviderAreListedAndNoneIsChosen() async throws {
        let world = try await World()
        let logins = [try await world.addChain(name: "1"), try await world.addChain(name: "2")]
        try await world.addPlainLogin(name: "3")
        do {
            _ = try await world.users.accessToken(for: .user("alice", provider: "acme"))
            Issue.record("one of two was chosen")
        } catch let error as VaultError {
            #expect(error.code == .ambiguousLogin)
            #expect(Set(error.logins) == Set(logins.map(\.id)))
        }
    }

    @Test func aLoginThatHasEndedIsMeantOnlyWhereThereIsNoOther() async throws {
        let world = try await World()
        let ended = try await world.addChain(name: "1")
        try await world.users.disableUser("alice")
        try await world.users.enableUser("alice")
        #expect(await code { try await world.users.accessToken(for: .user("alice", provider: "acme")) } == .notLoggedIn)
        await #expect(try world.users.sessionState(of: .login(ended.id)) == .terminated(.userDisabled))
        let login = try await world.addChain(name: "2")
        #expect(try await world.users.accessToken(for: .user("alice", provider: "acme")).login == login.id)
    }

    @Test(arguments: [
        ("bob", "acme", VaultError.Code.unknownUser), ("alice", "nowhere", .unknownProvider),
        ("alice", "other", .notLoggedIn), ("", "acme", .invalidArgument),
    ])
    func whatIsMissingIsNamed(user: String, provider: String, expected: VaultError.Code) async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        try await world.addChain()
        #expect(await code { try await world.users.accessToken(for: .user(user, provider: provider)) } == expected)
    }

    @Test func aScopeAloneNamesANarrowerToken() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", scope: "read"))
        let wish = try TokenRequest(scope: Scope("read"))
        let narrow = try await world.users.accessToken(for: .login(login.id), wish)
        #expect(narrow.name == "2")
        #expect(narrow.resource == nil)
        let sent = try #require(world.transport.requests.last?.form)
        #expect(sent["scope"] == "read")
        #expect(sent["resource"] == nil)
        await #expect(try world.users.validAccessToken(for: .login(login.id), wish)?.name == "2")
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(world.transport.requestCount == 1)
    }

    @Test func renewingAResourceTokenKeepsTheLoginsOwn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .generation("3"))
        var wish = TokenRequest(resource: "https://calendar.example")
        #expect(try await world.users.accessToken(for: .login(login.id), wish).name == "2")
        #expect(try await world.users.accessToken(for: .login(login.id), wish).name == "2")
        wish.renewsNow = true
        await #expect(try world.users.validAccessToken(for: .login(login.id), wish) == nil)
        #expect(try await world.users.accessToken(for: .login(login.id), wish).name == "3")
        #expect(world.transport.requests.last?.form["resource"] == "https://calendar.example")
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
    }

    @Test func aRenewalThatIsAskedForIsWaitedForUntilTheDeadline() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        let request = TokenRequest(deadline: .zero, renewsNow: true)
        #expect(await code { try await world.users.accessToken(for: .login(login.id), request) } == .deadlineExceeded)
        await world.transport.waitForRequests(1)
        // It waits with a deadline, so that it can be seen waiting: after the renewal, it would ask for one more.
        let caller = Task {
            let request = TokenRequest(deadline: .seconds(60), renewsNow: true)
            return try await world.users.accessToken(for: .login(login.id), request).name
        }
        await world.time.waitForSleepers()
        gate.open()
        #expect(try await caller.value == "2")
    }
}
