import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Access tokens for single resources (RFC 8707), beside the login's own.
struct ResourceTokenTests {
    private let calendar = "https://calendar.example"
    private let mail = "https://mail.example"

    @Test func eachResourceHasItsOwnTokenAndTheLoginsOwnStays() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .generation("3"))
        let first = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        #expect(first.name == "2")
        #expect(first.resource == calendar)
        #expect(first.generation == 2)
        let sent = try #require(world.transport.requests.last?.form)
        #expect(sent["resource"] == calendar)
        #expect(sent["refresh_token"] == "CANARY-refresh-1")
        #expect(sent["scope"] == nil)
        let second = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: mail))
        #expect(second.name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        // All three from the vault now, by user and by login.
        #expect(try await world.users.accessToken(for: .user("alice"), TokenRequest(resource: calendar)).name == "2")
        #expect(try await world.users.accessToken(for: .user("alice"), TokenRequest(resource: mail)).name == "3")
        let own = try await world.users.accessToken(userId: "alice")
        #expect(own.name == "1")
        #expect(own.resource == nil)
        #expect(own.generation == 1)
        #expect(world.transport.requestCount == 2)
        let listed = try await world.vault.login(login.id)
        #expect(listed.generation == 3)
        #expect(listed.resourceTokens.map(\.resource) == [calendar, mail])
    }

    @Test func aScopeIsPartOfTheKey() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", scope: "read"),
            .generation("3"))
        let narrow = try await world.users.accessToken(
            for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("read")))
        #expect(narrow.scope?.description == "read")
        #expect(narrow.requestedScope?.description == "read")
        #expect(world.transport.requests.last?.form["scope"] == "read")
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "3")
        #expect(
            try await world.users.accessToken(
                for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("read"))
            )
            .name == "2")
        #expect(world.transport.requestCount == 2)
        // The grant's scope is what it was.
        await #expect(try world.vault.store.login(login.id.handle).session.scope == login.scope?.description)
    }

    @Test func theOrderOfAScopeDoesNotMatter() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(
            for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("write read")))
        _ = try await world.users.accessToken(
            for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("read write")))
        #expect(world.transport.requestCount == 1)
        #expect(world.transport.requests.last?.form["scope"] == "read write")
    }

    @Test func callersWithOtherKeysWaitAndThenGetTheirOwn() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            await gate.pass()
            let resource = request.form["resource"] ?? "own"
            let next = request.form["refresh_token"].flatMap { Int($0.split(separator: "-").last ?? "") } ?? 0
            return try await ScriptedReply.tokens(
                accessToken: "CANARY-access-\(resource)", refreshToken: "CANARY-refresh-\(next + 1)"
            ).reply(to: request)
        }
        world.expire()
        let resources = (0..<8).map { "https://r\($0).example" }
        try await withThrowingTaskGroup(of: (String?, String).self) { group in
            for index in 0..<320 {
                let resource = index % 9 == 8 ? nil : resources[index % 9]
                group.addTask {
                    let token =
                        if let resource {
                            try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: resource))
                        } else { try await world.users.accessToken(for: .login(login.id)) }
                    return (resource, token.name)
                }
            }
            await world.transport.waitForRequests(1)
            gate.open()
            for try await (resource, name) in group { #expect(name == resource ?? "own") }
        }
        // One redemption for each key, one after the other, each with the token that the one before brought.
        #expect(world.transport.requestCount == 9)
        let spent = world.transport.requests.compactMap { $0.form["refresh_token"] }
        #expect(spent == (1...9).map { "CANARY-refresh-\($0)" })
    }

    @Test func aRejectedTokenIsRenewedOnceAndNoOther() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .generation("3"), .generation("4"))
        let token = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: mail))
        for _ in 0..<5 { try await world.users.reportRejected(token) }
        #expect(world.transport.requestCount == 3)
        #expect(world.transport.requests.last?.form["resource"] == calendar)
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "4")
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: mail)).name == "3")
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
        #expect(world.transport.requestCount == 3)
    }

    @Test func ownTokenCanBeRejectedAfterResourceRenewals() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let own = try await world.users.accessToken(for: .login(login.id))
        world.transport.enqueue(.generation("2"), .generation("3"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        try await world.users.reportRejected(own)
        #expect(world.transport.requestCount == 2)
        #expect(world.transport.requests.last?.form["resource"] == nil)
        let newer = try await world.users.accessToken(for: .login(login.id))
        #expect(newer.name == "3")
        #expect(newer.generation == 3)
        #expect(try await world.vault.store.login(login.id.handle).session.accessGeneration == nil)
        // The token for the resource is another one: it stays.
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "2")
        #expect(world.transport.requestCount == 2)
    }

    @Test func renewingNowIsAboutTheLoginsOwnToken() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .generation("3"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).name == "3")
        #expect(world.transport.requests.last?.form["resource"] == nil)
    }

    @Test func refusedResourceHarmsNothingAndIsNotRetried() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("invalid_target"))
        for _ in 0..<3 {
            #expect(
                await code {
                    try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
                }
                    == .resourceRefused)
        }
        #expect(world.transport.requestCount == 1)
        // Neither the login nor the provider's breaker is touched.
        world.transport.enqueue(.generation("2"), .generation("3"), .generation("4"))
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: mail)).name == "2")
        #expect(try await world.users.accessToken(for: .login(login.id), .renewed).name == "3")
        world.time.advance(by: .seconds(31))
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "4")
    }

    @Test func aRefusedScopeIsNotReplacedByAnother() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("invalid_scope"))
        #expect(
            await code {
                try await world.users.accessToken(
                    for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("read")))
            }
                == .resourceRefused)
        #expect(world.transport.requestCount == 1)
        #expect(world.transport.requests.last?.form["scope"] == "read")
    }

    @Test(arguments: [
        "", "calendar", "calendar.example/x", ":x", "https:", "https://a.example/#b", "https://a.example/ b", "1a:b",
        "https://ä.example", "https://a.example/\u{7F}", "https://" + String(repeating: "a", count: 2_048),
    ])
    func whatIsNoResourceIsNotSent(_ resource: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        #expect(
            await code { try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: resource)) }
                == .invalidArgument)
        #expect(world.transport.requests.isEmpty)
    }

    @Test func noWiderScopeIsAskedForThanWasGranted() async throws {
        let world = try await World()
        world.transport.enqueue(
            .tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1", scope: "read write"))
        let login = try await world.users.logIn(
            LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("CANARY-code"),
            codeVerifier: .random())
        for scope in ["admin", "read admin", ""] {
            #expect(
                await code {
                    try await world.users.accessToken(
                        for: .login(login.id), TokenRequest(resource: calendar, scope: Scope(scope)))
                }
                    == .invalidArgument)
        }
        #expect(world.transport.requestCount == 1)
        world.transport.enqueue(.generation("2"))
        #expect(
            try await world.users.accessToken(
                for: .login(login.id), TokenRequest(resource: calendar, scope: Scope("read"))
            )
            .name == "2")
    }

    @Test func sixteenAreKeptAndTheSoonestExpiredGoesFirst() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for index in 0..<17 {
            // The third one runs out before all others.
            world.transport.enqueue(.generation("\(index + 2)", expiresIn: index == 2 ? 1_000 : 3_600 + index))
            _ = try await world.users.accessToken(
                for: .login(login.id), TokenRequest(resource: "https://r\(index).example"))
        }
        let kept = try await world.vault.login(login.id).resourceTokens.compactMap(\.resource)
        #expect(kept.count == 16)
        #expect(!kept.contains("https://r2.example"))
        #expect(kept.contains("https://r16.example"))
        // What has run out makes room first.
        world.time.advance(by: .seconds(3_601))
        world.transport.enqueue(.generation("20"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://new.example"))
        await #expect(try world.vault.login(login.id).resourceTokens.compactMap(\.resource).count < 17)
        await #expect(
            try !world.vault.login(login.id).resourceTokens.compactMap(\.resource).contains("https://r0.example"))
    }

    @Test func tokensThatAreLongTogetherMakeRoom() throws {
        let now = Timestamp(milliseconds: 0)
        var session = SessionRecord(state: .established, createdAt: now, obtainedAt: now)
        for index in 0..<10 {
            session.keep(
                TokenRecord(
                    target: TokenTarget(resource: "https://r\(index).example"),
                    accessToken: SecretBytes(utf8: String(repeating: "x", count: 20_000)), obtainedAt: now,
                    expiresAt: Timestamp(milliseconds: Int64(1_000 + index)), generation: 1))
        }
        #expect(session.resourceTokens.compactMap(\.target.resource) == (7..<10).map { "https://r\($0).example" })
        // One that is longer than all of them may be is kept alone.
        session.keep(
            TokenRecord(
                target: TokenTarget(resource: "https://long.example"),
                accessToken: SecretBytes(utf8: String(repeating: "x", count: 65_000)), obtainedAt: now, generation: 1))
        #expect(session.resourceTokens.count == 1)
    }

    @Test func aNewChainStartsWithoutThem() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        // The chain lives on.
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"),
            expiresAt: world.now.addingTimeInterval(3_600))
        await #expect(try world.vault.login(login.id).resourceTokens.count == 1)
        #expect(try await world.users.accessToken(for: .login(login.id)).generation == 3)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("app"), expiresAt: nil,
            refreshToken: Sample.refreshToken("app"))
        #expect(try await world.vault.login(login.id).resourceTokens.isEmpty)
    }

    @Test func aDeadLoginGivesOutWhatIsStillGoodUnlessItIsBound() async throws {
        for key in [nil, DPoPKey.generate()] {
            let world = try await World()
            let login = try await world.addChain(dpopKey: key)
            world.transport.enqueue(
                .tokens(
                    accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2", expiresIn: 9_000,
                    tokenType: key == nil ? "Bearer" : "DPoP"))
            _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
            world.expire()
            world.transport.enqueue(.error("invalid_grant"))
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
            let served = await code {
                try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
            }
            #expect(served == (key == nil ? nil : .refreshFailed))
            #expect(try await world.vault.login(login.id).resourceTokens.count == (key == nil ? 1 : 0))
        }
    }

    @Test func anInvalidGrantForAResourceIsTheEndOfTheLogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("invalid_grant"))
        #expect(
            await code { try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)) }
                == .refreshFailed)
        await #expect(try world.vault.login(login.id).failure != nil)
    }

    @Test func loggingOutTakesThemAway() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .status(.ok))
        let token = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        let users = world.users
        _ = try await users.disableUser("alice")
        #expect(
            await code { try await users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)) }
                == .userDisabled)
        await #expect(try world.vault.store.login(login.id.handle).session.resourceTokens.isEmpty)
        #expect(token.name == "2")
        // The refresh token takes its access tokens with it: one revocation.
        #expect(world.transport.requests.filter { $0.path == "/revoke" }.count == 1)
    }

    @Test func loginsWithoutARefreshTokenHaveNone() async throws {
        let world = try await World(handler: RecordingHandler())
        let login = try await world.addPlainLogin()
        #expect(
            await code { try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)) }
                == .notRefreshable)
        #expect(world.handler?.asked.isEmpty == true)
    }

    @Test func aReplyWithoutAnAccessTokenKeepsWhatThereIs() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(
            .json(#"{"token_type":"Bearer","refresh_token":"CANARY-refresh-2"}"#), .generation("3"))
        #expect(try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "3")
        #expect(world.transport.requests.compactMap { $0.form["resource"] } == [calendar, calendar])
        #expect(world.transport.requests.last?.form["refresh_token"] == "CANARY-refresh-2")
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
    }

    @Test func theyAreOfOtherProcessesToo() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        let other = try await world.anotherProcess()
        #expect(try await other.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar)).name == "2")
        #expect(world.transport.requestCount == 1)
        await other.vault.close()
    }

    @Test func aRequestIsAuthorizedForItsResource() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        var request = HTTPRequest(method: .get, scheme: "https", authority: "calendar.example", path: "/me")
        let token = try await world.users.authorize(&request, for: .user("alice"), TokenRequest(resource: calendar))
        #expect(request.headerFields[.authorization] == "Bearer CANARY-access-2")
        let again = try await world.users.accessToken(replacing: token, deadline: nil)
        #expect(again.resource == calendar)
        #expect(world.transport.requestCount == 1)
    }

    @Test func theyComeOutOfTheSpoolAsWhatTheyAre() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let process = try await world.faulty()
        process.store.fail(Array(repeating: .before, count: 1_000_000), afterCommits: 1)
        world.transport.enqueue(.generation("2"))
        let token = try await world.withTimePassing {
            try await process.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        }
        #expect(token.isVolatile)
        #expect(token.resource == calendar)
        process.store.fail([], afterCommits: 0)
        let stored = try await world.withTimePassing {
            while try await world.vault.login(login.id).generation == 1, !Task.isCancelled { await Task.yield() }
            return try await process.users.accessToken(for: .login(login.id), TokenRequest(resource: calendar))
        }
        #expect(stored.name == "2")
        #expect(!stored.isVolatile)
        #expect(try await process.users.accessToken(for: .login(login.id)).name == "1")
        #expect(world.transport.requestCount == 1)
    }
}
