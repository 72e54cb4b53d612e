import Foundation
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// Providers with an address for each customer.
@Suite struct VariableTests {
    private static let document = """
        {"profile":2,"name":"shops","source":[{"url":"https://shops.example","read":"2026-11-28"}],
        "variables":{"shop":{"says":"the shop's name","example":"acme-store"}},
        "endpoints":{"authorization":"https://{shop}.shops.example/authorize","token":"https://{shop}.shops.example/token"},
        "request":{"tokenParameters":{"store":"{shop}"}},
        "callback":{"keep":["region"],"code":"shop_code"},
        "refresh":{"missing":"Ask for offline access."},
        "resource":{"header":"X-Shop-Token","scheme":""}}
        """

    private func world(_ document: String = Self.document, origins: [String] = []) async throws -> World {
        let profile = try ProviderProfile(parsing: Array(document.utf8), file: "shops.json")
        var registration = try ProviderRegistration(
            name: "acme", authorizationEndpoint: profile.endpoints.authorization,
            tokenEndpoint: #require(profile.endpoints.token),
            revocationEndpoint: EndpointURL("https://{shop}.shops.example/revoke", allowsVariables: true),
            clientID: ClientID("client-1"), scope: Scope("read"),
            redirectURI: RedirectURI("https://app.example/callback"))
        registration.profileDocument = Array(document.utf8)
        registration.apiOrigins = try origins.map { try APIOrigin($0) }
        return try await World(provider: registration)
    }

    private func logIn(_ world: World, _ shop: String, refreshToken: String? = "CANARY-refresh-1") async throws
        -> CompletedLogIn
    {
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice-\(shop)", provider: "acme", variables: ["shop": shop]))
        #expect(request.url.hasPrefix("https://\(shop).shops.example/authorize?"))
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-\(shop)", refreshToken: refreshToken))
        return try await world.users.completeLogIn(
            .url("https://app.example/callback?shop_code=CANARY&region=eu&other=x&state=\(request.state)"),
            boundTo: request.binding)
    }

    private func hosts(_ world: World) -> [String] { world.transport.requests.compactMap { $0.request.authority } }

    @Test func eachLoginHasItsOwnAddress() async throws {
        let world = try await world()
        let one = try await logIn(world, "one"), two = try await logIn(world, "two")
        #expect(one.login.attributes == ["shop": "one", "region": "eu"])
        #expect(hosts(world) == ["one.shops.example", "two.shops.example"])
        #expect(world.transport.requests.map { $0.form["store"] } == ["one", "two"])
        world.expire()
        for (shop, login) in [("two", two.login), ("one", one.login)] {
            world.transport.enqueue(.tokens(accessToken: "CANARY-access-\(shop)-2", refreshToken: "CANARY-refresh-2"))
            _ = try await world.users.accessToken(for: .login(login.id))
            #expect(hosts(world).last == "\(shop).shops.example")
        }
        // A revocation goes there, too, although nothing of the login is left by then.
        world.transport.enqueue(.json("{}"))
        _ = try await world.users.logOut(.login(two.login.id))
        #expect(hosts(world).last == "two.shops.example")
        #expect(world.transport.requests.last?.path == "/revoke")
    }

    @Test func aRevocationThatWaitsKnowsItsAddress() async throws {
        let world = try await world()
        let done = try await logIn(world, "one")
        world.transport.simulate(.unreachable, times: 1)
        _ = try await world.users.logOut(.login(done.login.id))
        world.transport.simulate(nil)
        world.time.advance(by: .seconds(86_400))
        world.transport.enqueue(.json("{}"))
        _ = try await world.users.retryRevocations()
        #expect(hosts(world).last == "one.shops.example")
    }

    @Test func aNewLogInTakesTheValuesOfItsLogin() async throws {
        let world = try await world()
        let done = try await logIn(world, "one")
        let again = try await world.users.beginLogIn(LogInRequest(into: .login(done.login.id)))
        #expect(again.url.hasPrefix("https://one.shops.example/"))
        let same = LogInRequest(into: .login(done.login.id), variables: ["shop": "one"])
        #expect(try await world.users.beginLogIn(same).url.hasPrefix("https://one.shops.example/"))
        // Another shop is another account.
        let other = LogInRequest(into: .login(done.login.id), variables: ["shop": "other"])
        #expect(await code { try await world.users.beginLogIn(other) } == .invalidArgument)
        let moved = try await world.users.beginLogIn(
            LogInRequest(into: .login(done.login.id), variables: ["shop": "other"], acceptsOtherAccount: true))
        #expect(moved.url.hasPrefix("https://other.shops.example/"))
    }

    @Test(arguments: ["", "a.b", "evil.example/", "Shop", "-a", "a@b"])
    func aValueThatDoesNotFitBeginsNothing(value: String) async throws {
        let world = try await world()
        #expect(
            await code {
                try await world.users.beginLogIn(
                    LogInRequest(userId: "alice", provider: "acme", variables: ["shop": value]))
            } == .invalidArgument)
    }

    @Test func aValueThatIsMissingOrUnknownIsNamed() async throws {
        let world = try await world()
        for variables in [[:], ["shop": "one", "colour": "red"]] {
            do {
                _ = try await world.users.beginLogIn(
                    LogInRequest(userId: "alice", provider: "acme", variables: variables))
                Issue.record("it began")
            } catch let error as VaultError {
                #expect(error.code == .invalidArgument)
                #expect(error.message.contains(variables.isEmpty ? "shop" : "colour"))
            }
        }
        #expect(world.transport.requests.isEmpty)
    }

    @Test func whatNoLoginHasIsNotUsedSilently() async throws {
        let world = try await world()
        #expect(
            await code {
                try await world.users.addLogin(
                    userId: "alice", accessToken: Sample.accessToken("1"), variables: ["shop": "one"])
            } == .invalidArgument)
        do {
            _ = try await world.users.clientToken(provider: "acme")
            Issue.record("a token came")
        } catch let error as VaultError {
            #expect(error.code == .invalidArgument && error.message.contains("{shop}"))
            #expect(error.hint?.contains("https://acme-store.shops.example/token") == true)
        }
        #expect(world.transport.requests.isEmpty)
    }

    @Test func aWholeHostMustBeAllowed() async throws {
        let document = Self.document
            .replacing(
                #""example":"acme-store""#, with: #""example":"a.shops.example","pattern":"[a-z.]+","anyHost":true"#
            )
            .replacing("{shop}.shops.example", with: "{shop}")
        let profile = try ProviderProfile(parsing: Array(document.utf8), file: "shops.json")
        #expect(profile.endpoints.token?.hasVariableHost == true)
        for (origins, isAllowed) in [
            ([], false), (["https://*.other.example"], false), (["https://*.shops.example"], true),
        ] {
            var registration = try ProviderRegistration(
                name: "acme", authorizationEndpoint: profile.endpoints.authorization,
                tokenEndpoint: #require(profile.endpoints.token), clientID: ClientID("client-1"),
                redirectURI: RedirectURI("https://app.example/callback"))
            registration.profileDocument = Array(document.utf8)
            registration.apiOrigins = try origins.map { try APIOrigin($0) }
            let world = try await World(provider: registration)
            let result = await code {
                try await world.users.beginLogIn(
                    LogInRequest(userId: "alice", provider: "acme", variables: ["shop": "a.shops.example"]))
            }
            #expect(result == (isAllowed ? nil : .originNotAllowed))
        }
    }

    @Test func anEndpointWithAnUndeclaredVariableIsRefused() async throws {
        let world = try await World()
        var registration = Sample.provider()
        registration.name = "other"
        registration.tokenEndpoint = try EndpointURL("https://{shop}.example.com/token", allowsVariables: true)
        let given = registration
        #expect(await code { try await world.vault.addProvider(given) } == .invalidArgument)
    }

    @Test func aPartOfACallbackDoesNotUseUpTheLogIn() async throws {
        let world = try await world()
        let request = try await world.users.beginLogIn(
            LogInRequest(userId: "alice", provider: "acme", variables: ["shop": "one"]))
        #expect(
            await code {
                try await world.users.completeLogIn(
                    .url("https://app.example/callback?state=\(request.state)&region=eu"), boundTo: request.binding)
            } == .invalidArgument)
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-1", refreshToken: "CANARY-refresh-1"))
        _ = try await world.users.completeLogIn(
            .url("https://app.example/callback?state=\(request.state)&shop_code=CANARY"), boundTo: request.binding)
    }

    @Test func aLoginThatCannotBeRenewedIsCalledSo() async throws {
        let world = try await world()
        #expect(try await logIn(world, "one", refreshToken: nil).whyNotRenewable == "Ask for offline access.")
        #expect(try await logIn(world, "two").whyNotRenewable == nil)
    }

    @Test func anAPIGetsTheTokenInItsHeader() async throws {
        let world = try await world()
        let done = try await logIn(world, "one")
        let request = HTTPRequest(method: .get, scheme: "https", authority: "one.shops.example", path: "/orders")
        let fields = try await world.users.authorize(request, for: .login(done.login.id)).request.headerFields
        #expect(fields[HTTPField.Name("X-Shop-Token")!] == "CANARY-access-one")
        #expect(fields[.authorization] == nil)
    }

    @Test func moreScopeIsAskedForTogetherWithWhatIsThere() async throws {
        let world = try await World()
        let login = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("1"),
            refreshToken: Sample.refreshToken("1"),
            scope: Scope("read mail"))
        #expect(login.missingScopes(of: try Scope("mail read")) == nil)
        let missing = login.missingScopes(of: try Scope("write read"))
        #expect(missing == (try Scope("write")))
        let request = try await world.users.beginLogIn(LogInRequest(into: .login(login.id), adding: missing))
        #expect(request.url.contains("scope=read+mail+write"))
        #expect(
            await code {
                try await world.users.beginLogIn(
                    LogInRequest(into: .login(login.id), scope: Scope("x"), adding: Scope("y")))
            } == .invalidArgument)
    }

    @Test func aYoungTokenIsNotRenewed() async throws {
        let document = Self.document.replacing(
            #""refresh":{"#, with: #""refresh":{"minimumAgeSeconds":86400,"#)
        let world = try await world(document)
        let done = try await logIn(world, "one")
        let token = try await world.users.accessToken(for: .login(done.login.id))
        #expect(await code { try await world.users.reportRejected(token) } == .tryLater)
        let sent = world.transport.requestCount
        #expect(await code { try await world.users.accessToken(for: .login(done.login.id)) } == .tryLater)
        #expect(world.transport.requestCount == sent)
        world.time.advance(by: .seconds(86_401))
        world.transport.enqueue(.tokens(accessToken: "CANARY-access-2", refreshToken: "CANARY-refresh-2"))
        _ = try await world.users.accessToken(for: .login(done.login.id))
        #expect(world.transport.requestCount == sent + 1)
    }
}
