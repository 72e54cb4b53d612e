import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// What replies tell beside tokens, what they do not tell, and limits that are the provider's.
struct ReplyMetadataTests {
    private func world(_ profile: String, _ change: (inout ProviderRegistration) throws -> Void = { _ in }) async throws
        -> World
    {
        var registration = Sample.provider()
        registration.profile = profile
        try change(&registration)
        return try await World(provider: registration)
    }

    private func world(own fields: String) async throws -> World {
        let text = #"{"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],\#(fields)}"#
        return try await world("generic") { $0.profileDocument = Array(text.utf8) }
    }

    private func logIn(_ world: World) async throws -> Login {
        try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: .random())
    }

    private static func salesforce(_ name: String, _ instance: String) -> ScriptedReply {
        .json(
            """
            {"access_token":"CANARY-access-\(name)","refresh_token":"CANARY-refresh-\(name)","token_type":"Bearer",\
            "instance_url":"https://\(instance).my.salesforce.com","signature":"CANARY-signature"}
            """)
    }

    @Test func whatTheProfileKeepsIsReadable() async throws {
        let world = try await world(own: #""reply":{"keep":["instance_url"]}"#)
        world.transport.enqueue(Self.salesforce("1", "eu1"))
        let login = try await logIn(world)
        #expect(login.attributes == ["instance_url": "https://eu1.my.salesforce.com"])
        let token = try await world.users.accessToken(for: .login(login.id))
        #expect(token.attributes["instance_url"] == "https://eu1.my.salesforce.com")
        // A renewal that tells something else replaces it; one that tells nothing leaves it.
        world.transport.enqueue(Self.salesforce("2", "eu2"), .generation("3"))
        #expect(
            try await world.users.accessToken(for: .login(login.id), .renewed).attributes["instance_url"]
                == "https://eu2.my.salesforce.com")
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(try world.vault.login(login.id).attributes == ["instance_url": "https://eu2.my.salesforce.com"])
    }

    @Test func anExpiryIsToldAssumedOrUnknown() async throws {
        for (profile, source) in [("hubspot", ExpirySource.unknown), ("salesforce", .assumed)] {
            let world = try await world(profile) {
                $0.introspectionEndpoint = try EndpointURL("https://acme.example/introspect")
            }
            world.transport.enqueue(Self.salesforce("1", "eu1"))
            world.transport.fallback = .status(.forbidden)
            let login = try await logIn(world)
            #expect(login.expirySource == source)
            #expect(try await world.users.accessToken(for: .login(login.id)).expirySource == source)
        }
        let world = try await World()
        let login = try await world.addChain()
        #expect(login.expirySource == .told)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).expirySource == .told)
    }

    @Test func anUnknownExpiryIsFollowedByARefusal() async throws {
        let world = try await world("hubspot")
        world.transport.enqueue(Self.salesforce("1", "eu1"), .generation("2", expiresIn: nil))
        let login = try await logIn(world)
        world.time.advance(by: .seconds(365 * 86_400))
        let token = try await world.users.accessToken(for: .login(login.id))
        #expect(token.name == "1")
        try await world.users.reportRejected(token)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func aLifeThatWasNotToldIsAskedFor() async throws {
        let world = try await world("salesforce") {
            $0.introspectionEndpoint = try EndpointURL("https://acme.example/introspect")
        }
        let expiry = world.now.addingTimeInterval(900)
        let answer = ScriptedReply.json(#"{"active":true,"exp":\#(Int(expiry.timeIntervalSince1970))}"#)
        world.transport.enqueue(Self.salesforce("1", "eu1"), answer)
        let login = try await logIn(world)
        while try await world.vault.login(login.id).expirySource != .told, !Task.isCancelled { await Task.yield() }
        #expect(try await world.vault.login(login.id).expiresAt == expiry)
        let asked = try #require(world.transport.requests.last)
        #expect(asked.path == "/introspect")
        #expect(asked.form["token"] == "CANARY-access-1")
        // The same after a renewal; an answer that says nothing leaves what is assumed.
        world.transport.enqueue(Self.salesforce("2", "eu1"), .status(.serviceUnavailable))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        await world.transport.waitForRequests(4)
        #expect(try await world.vault.login(login.id).expirySource == .assumed)
    }

    /// Two answers that agree spare the next tokens the question, until one of them is refused before its time.
    @Test func notEachTokenOfALoginIsAskedAbout() async throws {
        let world = try await world("salesforce") {
            $0.introspectionEndpoint = try EndpointURL("https://acme.example/introspect")
        }
        let time = world.time
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            let end = Int(time.now().timeIntervalSince1970) + 900
            let reply: ScriptedReply =
                request.path == "/introspect"
                ? .json(#"{"active":true,"exp":\#(end)}"#) : Self.salesforce("\(world.transport.requestCount)", "eu1")
            return try await reply.reply(to: request)
        }
        func asked() -> Int { world.transport.requests.count { $0.path == "/introspect" } }
        func renewed(_ login: LoginID, expecting source: ExpirySource, _ count: Int) async throws -> Bool {
            world.time.advance(by: .seconds(1_000))
            _ = try await world.users.accessToken(for: .login(login), .renewed)
            while asked() < count, !Task.isCancelled { await Task.yield() }
            while try await world.vault.login(login).expirySource != source, !Task.isCancelled { await Task.yield() }
            // What would still be asked would have begun by now.
            await world.time.waitForRest()
            let lifetime = try await world.vault.login(login).expiresAt.map { $0.timeIntervalSince(world.now) }
            return asked() == count && lifetime == 900
        }
        let login = try await logIn(world).id
        while try await world.vault.login(login).expirySource != .told, !Task.isCancelled { await Task.yield() }
        #expect(try await renewed(login, expecting: .told, 2))
        for _ in 0..<7 { #expect(try await renewed(login, expecting: .assumed, 2)) }
        #expect(try await renewed(login, expecting: .told, 3))
        #expect(try await renewed(login, expecting: .assumed, 3))
        try await world.users.reportRejected(try await world.users.accessToken(for: .login(login)))
        while asked() < 4, !Task.isCancelled { await Task.yield() }
        await world.time.waitForRest()
        #expect(try await renewed(login, expecting: .told, 5))
    }

    /// The provider itself says that its new token is no good: nobody gets it, and the next one is not asked for at once.
    @Test func aTokenThatIsInactiveFromTheStartIsRefused() async throws {
        let world = try await world("salesforce") {
            $0.introspectionEndpoint = try EndpointURL("https://acme.example/introspect")
        }
        world.transport.enqueue(Self.salesforce("1", "eu1"), .json(#"{"active":false}"#))
        let login = try await logIn(world)
        while try await world.vault.login(login.id).notBefore == nil, !Task.isCancelled { await Task.yield() }
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        #expect(world.transport.requestCount == 2)
        world.time.advance(by: .seconds(61))
        world.transport.enqueue(Self.salesforce("2", "eu1"), .json(#"{"active":true}"#))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func aLimitThatIsReachedIsTold() async throws {
        let world = try await world(own: #""refresh":{"maximumTokens":2}"#)
        let first = try await world.addChain(name: "1")
        #expect(first.tokenLimit == Login.TokenLimit(maximum: 2, held: 1))
        #expect(first.tokenLimit?.isReached == false)
        #expect(!world.logs.text.contains("as many refresh tokens"))
        let second = try await world.addChain(name: "2")
        #expect(second.tokenLimit?.isReached == true)
        #expect(world.logs.text.contains("as many refresh tokens"))
        #expect(!world.logs.text.contains("alice"))
        try await world.addChain(user: "bob", name: "3")
        let listed = try await world.vault.logins(ofUser: "alice").compactMap { entry in
            if case .login(let login) = entry { login.tokenLimit?.held } else { nil }
        }
        #expect(listed == [2, 2])
        #expect(try await world.vault.login(first.id).tokenLimit?.held == 2)
        // A provider without a limit has none.
        let other = try await World()
        #expect(try await other.addChain().tokenLimit == nil)
    }

    @Test func noMoreRenewalsRunAtOnceThanTheProviderTakes() async throws {
        let world = try await world(own: #""limits":{"concurrentRequests":2}"#)
        var logins: [LoginID] = []
        for index in 0..<10 { logins.append(try await world.addChain(user: "user-\(index)", name: "\(index)").id) }
        world.expire()
        let gate = Gate()
        world.transport.fallback = ScriptedReply.generation("new").behind(gate)
        let provider = try await world.vault.store.provider(named: "acme").handle
        try await withThrowingTaskGroup(of: String.self) { group in
            for login in logins { group.addTask { try await world.users.accessToken(for: .login(login)).name } }
            while world.users.context.limiter.waitingCount(provider) < 8, !Task.isCancelled { await Task.yield() }
            await world.transport.waitForRequests(2)
            #expect(world.transport.requestCount == 2)
            gate.open()
            for try await name in group { #expect(name == "new") }
        }
        #expect(world.transport.requestCount == 10)
        #expect(world.users.context.limiter.waitingCount(provider) == 0)
    }

    @Test func whoSendsNothingGivesHisTurnBack() async throws {
        let world = try await world(own: #""limits":{"concurrentRequests":1}"#)
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.failure(.notSent, .connect), .generation("2"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        // Refused without a request: postponed.
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        world.time.advance(by: .seconds(10))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }
}
