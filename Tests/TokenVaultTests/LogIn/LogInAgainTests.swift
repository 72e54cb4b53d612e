import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// One login through all its lives: the user logs in again, and the login stays what it is to the app.
@Suite(.tags(.everyEngine))
struct LogInAgainTests {
    private func begin(
        _ world: World, _ login: Login, dpop: Bool? = nil, acceptsOtherAccount: Bool = false
    ) async throws -> AuthorizationRequest {
        try await world.users.beginLogIn(
            LogInRequest(into: .login(login.id), dpop: dpop, acceptsOtherAccount: acceptsOtherAccount))
    }

    @discardableResult
    private func complete(_ world: World, _ request: AuthorizationRequest) async throws -> Login {
        try await world.users.completeLogIn(
            .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding
        ).login
    }

    private func revocations(_ world: World) -> [String?] {
        world.transport.requests.filter { $0.path == "/revoke" }.map { $0.form["token"] }
    }

    private func all(_ world: World) async throws -> [LoginEntry] { try await world.vault.logins(ofUser: "alice") }

    // MARK: Whole lives

    @Test func aDeadLoginLivesAgainUnderItsID() async throws {
        let world = try await World()
        let login = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("1"),
            refreshToken: Sample.refreshToken("1"), label: "work")
        try await world.kill(login)
        #expect(try await world.vault.login(login.id).failure?.reason == .deadGrant)
        world.time.advance(by: .seconds(86_400))
        let request = try await begin(world, login)
        // The end of the first access token is not known, so that it is revoked.
        world.transport.enqueue(.generation("2"), .status(.ok))
        let again = try await complete(world, request)
        try await world.settleRevocations()
        #expect(again.id == login.id)
        #expect(again.label == "work")
        #expect(again.createdAt == login.createdAt)
        #expect(again.failure == nil)
        #expect(again.state == .established)
        #expect(again.generation > login.generation)
        #expect(try await all(world).count == 1)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        world.expire()
        world.transport.enqueue(.generation("3"))
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        await #expect(try world.tale().contains("loggedInAgain"))
        #expect(try await world.vault.verify().isClean)
    }

    @Test func theOldGrantOfALivingLoginIsRevoked() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let request = try await begin(world, login)
        // Until then it is as it was.
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        world.transport.enqueue(.generation("2"), .status(.ok))
        try await complete(world, request)
        try await world.settleRevocations()
        #expect(revocations(world) == ["CANARY-refresh-1"])
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aTerminatedLoginIsReopenedByTheAppAlone() async throws {
        let world = try await World()
        world.transport.fallback = .status(.ok)
        let login = try await world.addChain(name: "1")
        let early = try await begin(world, login)
        try await world.users.disableUser("alice")
        #expect(await code { try await begin(world, login) } == .userDisabled)
        try await world.users.enableUser("alice")
        // What began before the end does not undo it; nothing is sent.
        let count = world.transport.requestCount
        #expect(await code { try await complete(world, early) } == .notLoggedIn)
        #expect(world.transport.requestCount == count)
        #expect(try await world.vault.login(login.id).state == .terminated(.userDisabled))
        let request = try await begin(world, login)
        world.transport.enqueue(.generation("2"))
        #expect(try await complete(world, request).state == .established)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(try await world.vault.verify().isClean)
    }

    @Test func anEndDuringTheExchangeWins() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let request = try await begin(world, login)
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.transport.fallback = .status(.ok)
        let caller = Task { try await complete(world, request) }
        await world.transport.waitForRequests(1)
        try await world.users.logOut(.login(login.id))
        gate.open()
        #expect(await code { try await caller.value } == .unknownLogin)
        try await world.settleRevocations()
        #expect(revocations(world) == ["CANARY-refresh-1", "CANARY-refresh-2"])
        #expect(try await all(world).isEmpty)
    }

    // MARK: What was under way

    @Test func aRenewalUnderWayNeverOverwritesTheNewChain() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let request = try await begin(world, login)
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate), .generation("2"))
        world.transport.fallback = .status(.ok)
        world.expire()
        // A log-in outlives the access token.
        let caller = Task { try await world.users.accessToken(for: .login(login.id)) }
        await world.transport.waitForRequests(1)
        let fresh = try await begin(world, login)
        try await complete(world, fresh)
        await #expect(try world.stored(login).intent == nil)
        gate.open()
        #expect(try await caller.value.name == "2")
        await world.transport.waitForRequests(4)
        try await world.settleRevocations()
        let stored = try await world.stored(login)
        #expect(stored.refresh?.refreshToken?.string() == "CANARY-refresh-2")
        #expect(stored.refresh?.previousRefresh == nil)
        #expect(Set(revocations(world)) == ["CANARY-refresh-1", "CANARY-refresh-late"])
        _ = request
    }

    @Test func aDoubtGoesWithTheOldChain() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        try await world.leaveIntent(login, owner: IntentRecord.nobody, inDoubt: true, tries: 2)
        let request = try await begin(world, login)
        world.transport.enqueue(.generation("2"), .status(.ok))
        #expect(try await complete(world, request).isInDoubt == false)
        world.expire()
        world.transport.enqueue(.generation("3"))
        try await world.settleRevocations()
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
        #expect(world.transport.requests.filter { $0.path == "/token" }.count == 2)
    }

    @Test func aCommitThatIsReportedAsFailedIsNotMadeTwice() async throws {
        for fault in [FaultyStore.Fault.before, .after] {
            let world = try await World()
            let login = try await world.addChain(name: "1")
            let request = try await begin(world, login)
            let faulty = try await world.faulty()
            let store = faulty.store
            world.transport.enqueue(.generation("2"))
            world.transport.fallback = .status(.ok)
            // The first write takes the pending log-in.
            store.fail([fault], afterCommits: 1)
            let again = try await world.withTimePassing {
                try await faulty.users.completeLogIn(
                    .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
            }
            #expect(store.failedCommits == 1)
            #expect(again.login.generation == login.generation + 1)
            while faulty.vault.isWorking { await Task.yield() }
            try await world.settleRevocations()
            #expect(revocations(world) == ["CANARY-refresh-1"])
            #expect(try await world.users.accessToken(userId: "alice").name == "2")
        }
    }

    @Test func aCodeThatWasNotSentCanBeTriedAgain() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let request = try await begin(world, login)
        #expect(await code { try await complete(world, request) } == .network)
        world.transport.enqueue(.generation("2"), .status(.ok))
        #expect(try await complete(world, request).id == login.id)
        #expect(try await all(world).count == 1)
    }

    @Test func theSecondOfTwoLogInsReplacesTheFirst() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let requests = [try await begin(world, login), try await begin(world, login)]
        for (request, name) in zip(requests, ["2", "3"]) {
            world.transport.enqueue(.generation(name), .status(.ok))
            try await complete(world, request)
            try await world.settleRevocations()
        }
        #expect(revocations(world) == ["CANARY-refresh-1", "CANARY-refresh-2"])
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
    }

    // MARK: Whose account

    private func openID() async throws -> World {
        var registration = Sample.provider()
        registration.scope = try Scope("openid read")
        return try await World(provider: registration)
    }

    private func tokens(_ name: String, _ request: AuthorizationRequest, subject: String, _ now: Date) -> ScriptedReply
    {
        let query = Array((request.url.split(separator: "?", maxSplits: 1).last ?? "").utf8)
        var token = SampleIDToken(nonce: FormCodec.decode(query)?.first { $0.name == "nonce" }?.value, now: now)
        token.claims["sub"] = "\"\(subject)\""
        return .json(
            #"{"access_token":"CANARY-access-\#(name)","refresh_token":"CANARY-refresh-\#(name)","#
                + #""token_type":"Bearer","expires_in":3600,"id_token":"\#(token.text)"}"#)
    }

    @Test func anotherAccountIsRefusedUnlessItIsWanted() async throws {
        let world = try await openID()
        let first = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        world.transport.enqueue(tokens("1", first, subject: "CANARY-alice", world.now))
        let login = try await complete(world, first)
        var request = try await begin(world, login)
        world.transport.enqueue(tokens("2", request, subject: "CANARY-mallory", world.now), .status(.ok))
        #expect(await code { try await complete(world, request) } == .otherAccount)
        try await world.settleRevocations()
        // The login is as it was, and what came is ended.
        #expect(revocations(world) == ["CANARY-refresh-2"])
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(try await world.vault.login(login.id).subject == "CANARY-alice")
        // Neither does a reply pass that says nothing of the account.
        request = try await begin(world, login)
        world.transport.enqueue(.generation("3"), .status(.ok))
        #expect(await code { try await complete(world, request) } == .protocolViolation)
        try await world.settleRevocations()

        request = try await begin(world, login)
        world.transport.enqueue(tokens("4", request, subject: "CANARY-alice", world.now), .status(.ok))
        #expect(try await complete(world, request).subject == "CANARY-alice")
        try await world.settleRevocations()
        request = try await begin(world, login, acceptsOtherAccount: true)
        world.transport.enqueue(tokens("5", request, subject: "CANARY-bob", world.now), .status(.ok))
        #expect(try await complete(world, request).subject == "CANARY-bob")
        await #expect(try world.tale().contains("loggedInAgain account=other"))
        #expect(try await world.users.accessToken(userId: "alice").name == "5")
    }

    // MARK: Keys

    @Test func aBoundLoginStaysBoundToANewKey() async throws {
        let world = try await World()
        let key = DPoPKey.generate()
        let login = try await world.addChain(name: "1", dpopKey: key)
        try await world.kill(login)
        let request = try await begin(world, login)
        #expect(request.url.contains("dpop_jkt="))
        #expect(!request.url.contains(key.thumbprint.rawValue))
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", tokenType: "DPoP"))
        world.transport.fallback = .status(.ok)
        #expect(try await complete(world, request).isDPoPBound)
        try await world.settleRevocations()
        #expect(try await world.users.accessToken(userId: "alice").tokenType == .dpop)
        let plain = try await begin(world, login, dpop: false)
        world.transport.enqueue(.generation("3"))
        #expect(try await complete(world, plain).isDPoPBound == false)
    }

    // MARK: Grants that belong to the user

    /// Google ends all that the user has granted with any of the tokens.
    @Test func aGrantThatTheNewChainSharesIsNotRevoked() async throws {
        var registration = Sample.provider()
        registration.profile = "google"
        let world = try await World(provider: registration)
        let login = try await world.addChain(name: "1")
        let gate = Gate()
        world.transport.enqueue(.generation("late").behind(gate), .generation("2"))
        world.transport.fallback = .status(.ok)
        let caller = Task { try await world.users.accessToken(for: .login(login.id), .renewed) }
        await world.transport.waitForRequests(1)
        try await complete(world, begin(world, login))
        gate.open()
        _ = try? await caller.value
        while world.vault.isWorking { await Task.yield() }
        try await world.settleRevocations()
        #expect(revocations(world).isEmpty)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        // A log-out ends it.
        try await world.users.logOut(.login(login.id))
        #expect(revocations(world) == ["CANARY-refresh-2"])
    }

    @Test func aRefreshTokenThatStaysTheSameIsNotRevoked() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let gate = Gate()
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-late", refreshToken: "CANARY-refresh-1").behind(gate),
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-1"))
        world.transport.fallback = .status(.ok)
        let caller = Task { try await world.users.accessToken(for: .login(login.id), .renewed) }
        await world.transport.waitForRequests(1)
        try await complete(world, begin(world, login))
        gate.open()
        _ = try? await caller.value
        try await world.settleRevocations()
        #expect(revocations(world).isEmpty)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    // MARK: Held

    @Test func aLoginThatItsSourceRenewsIsRefused() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let request = try await begin(world, login)
        let now = world.vault.now
        _ = try await world.vault.store.updateLogin(login.id.handle) { $0.returnToSource("web", now: now) }
        #expect(await code { try await begin(world, login) } == .heldBySource)
        #expect(await code { try await complete(world, request) } == .heldBySource)
        #expect(world.transport.requestCount == 0)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
    }

    /// The old chain may live on in the vault that the backup was made of; the new one is this vault's alone.
    @Test(.aboutFiles("a vault on a server is backed up with its database"))
    func aLoginOfABackupIsFreedAndItsOldGrantLeftAlone() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        let directory = world.temporary.directory
        let backup = try await world.vault.backUp(to: directory + "/backup", allowsSameDevice: true)
        let path = directory + "/restored.db"
        let key = KeySource.keyFile(world.temporary.keyFile)
        _ = try await Vault.restore(backup.path, to: path, unlockedBy: key, options: world.temporary.options)
        let vault = try await Vault.open(at: path, unlockedBy: key, options: world.temporary.options)
        let users = try await UserManager(vault: vault, transport: world.transport, options: World.options)
        #expect(await code { try await users.updateAccessToken(userId: "alice") } == .held)
        let request = try await users.beginLogIn(LogInRequest(into: .user("alice")))
        world.transport.enqueue(.generation("2"), .generation("3"))
        let again = try await users.completeLogIn(
            .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
        #expect(again.login.id == login.id)
        #expect(try await vault.status().pendingRevocations == 0)
        #expect(try await users.updateAccessToken(userId: "alice").name == "3")
        #expect(revocations(world).isEmpty)
        #expect(try await vault.verify().isClean)
        await vault.close()
    }

    // MARK: Refusals

    @Test func onlyALoginWithAProviderCanBeLoggedInto() async throws {
        let world = try await World()
        let login = try await world.addPlainLogin()
        #expect(await code { try await begin(world, login) } == .invalidArgument)
        let gone = try await world.addChain(name: "1")
        let request = try await begin(world, gone)
        try await world.users.logOut(.login(gone.id), revokes: false)
        #expect(await code { try await complete(world, request) } == .unknownLogin)
        #expect(await code { try await begin(world, gone) } == .unknownLogin)
        #expect(world.transport.requestCount == 0)
    }

    @Test func theAppMayBringItsOwnCode() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        world.transport.enqueue(.generation("2"), .status(.ok))
        let again = try await world.users.logIn(
            LogInRequest(into: .user("alice", provider: "acme")), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: CodeVerifier.random())
        #expect(again.id == login.id)
        try await world.settleRevocations()
        #expect(revocations(world) == ["CANARY-refresh-1"])
    }

    // MARK: Events

    @Test func subscribersHearOfIt() async throws {
        let world = try await World()
        let login = try await world.addChain(name: "1")
        try await world.kill(login)
        let watcher = await StateWatcher(world.vault, login)
        let request = try await begin(world, login)
        world.transport.enqueue(.generation("2"))
        try await complete(world, request)
        let states = await watcher.states()
        #expect(states.count == 2)
        #expect(states.last == .established)
        let past = try await world.vault.pastEvents(login: login.id, userId: nil, limit: 10).map(\.kind)
        #expect(past.suffix(3) == [.updated, .recovered, .stateChanged(.established)])
    }

    // MARK: Which login is meant

    @Test func aDeadLoginBesideALivingOneIsNoAmbiguity() async throws {
        let world = try await World()
        let dead = try await world.addChain(name: "1")
        try await world.kill(dead)
        #expect(await code { try await world.users.updateAccessToken(userId: "alice") } == .refreshFailed)
        let login = try await world.addChain(name: "2")
        #expect(try await world.users.accessToken(userId: "alice").login == login.id)
        #expect(try await world.users.accessToken(for: .user("alice", provider: "acme")).login == login.id)
        try await world.kill(login)
        do {
            _ = try await world.users.accessToken(userId: "alice")
            Issue.record("one of two dead logins was chosen")
        } catch let error as VaultError {
            #expect(error.code == .ambiguousLogin)
            #expect(Set(error.logins) == [dead.id, login.id])
        }
        // One that needs its user is not dead.
        let third = try await world.addChain(name: "3")
        world.transport.enqueue(.error("interaction_required"))
        #expect(
            await code { try await world.users.accessToken(for: .login(third.id), .renewed) } == .needsUserInteraction)
        #expect(try await world.users.accessToken(userId: "alice").login == third.id)
    }
}
