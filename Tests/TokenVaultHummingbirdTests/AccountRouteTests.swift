import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuthClient
import Testing
import TokenVault
import TokenVaultHummingbird
import TokenVaultTesting

struct AccountRouteTests {
    @Test func usersSeeTheirOwnAccountsAlone() async throws {
        let world = try await World()
        let login = try await world.addLogin(label: "a \"b\"")
        _ = try await world.addLogin("bob")
        try await world.serve { client in
            let list = try await Browser(client).get("/accounts")
            #expect(list.headers[.cacheControl] == "no-store")
            let members = [
                #""id":"\#(login.id)""#, #""provider":"acme""#, #""label":"a \"b\"""#, #""state":"established""#,
                #""needsUser":false"#,
            ]
            #expect(members.allSatisfy(list.text.contains))
            #expect(list.text.split(separator: #""id""#).count == 2)
            #expect(!list.text.contains(Sample.marker))
            #expect(try await Browser(client, user: "carol").get("/accounts").text == #"{"accounts":[]}"#)
            #expect(try await Browser(client, user: nil).get("/accounts").status == .unauthorized)
        }
    }

    @Test func aDeadAccountIsReconnected() async throws {
        let world = try await World()
        let login = try await world.addLogin()
        world.transport.simulate(.permanent)
        world.time.advance(by: .seconds(7_200))
        _ = try? await world.users.accessToken(userId: "alice")
        world.transport.simulate(nil)
        try await world.serve { client in
            let browser = Browser(client)
            let dead = try await browser.get("/accounts")
            #expect(dead.text.contains(#""state":"dead""#) && dead.text.contains(#""needsUser":true"#))
            let begun = try await browser.send(.post, "/accounts/\(login.id)/reconnect?returnTo=/settings")
            #expect(begun.status == .seeOther)
            let state = try #require(begun.headers[.location]?.parameter("state"))
            let done = try await browser.get("/callback?code=CANARY-code&state=\(state)")
            #expect(done.headers[.location] == "/settings")
        }
        let again = try await world.users.vault.login(login.id)
        #expect(again.standing == .established)
    }

    @Test(arguments: [HTTPRequest.Method.post, .delete])
    func aLogOutRevokes(method: HTTPRequest.Method) async throws {
        let world = try await World()
        let login = try await world.addLogin()
        world.transport.enqueue(.status(.ok), .status(.ok))
        let path = "/accounts/\(login.id)" + (method == .post ? "/logout" : "")
        try await world.serve { client in
            let browser = Browser(client)
            let ended = try await browser.send(method, path)
            #expect(ended.status == .ok)
            #expect(ended.text == "{\"isRevoked\":true}\n")
            #expect(try await browser.send(method, path).status == .notFound)
        }
        #expect(world.transport.requests.allSatisfy { $0.path == "/revoke" } && world.transport.requestCount > 0)
    }

    @Test func anUnconfirmedRevocationIsSaid() async throws {
        let world = try await World()
        let login = try await world.addLogin()
        world.transport.simulate(.temporary)
        try await world.serve { client in
            let ended = try await Browser(client).send(.delete, "/accounts/\(login.id)")
            #expect(ended.text == "{\"isRevoked\":false}\n")
        }
    }

    static let changes: [(HTTPRequest.Method, String)] = [
        (.post, "/reconnect"), (.post, "/logout"), (.delete, ""),
    ]

    @Test(arguments: changes)
    func anotherUsersAccountIsNotThere(method: HTTPRequest.Method, suffix: String) async throws {
        let world = try await World()
        let login = try await world.addLogin("bob")
        try await world.serve { client in
            let theirs = try await Browser(client).send(method, "/accounts/\(login.id)\(suffix)")
            let none = try await Browser(client).send(method, "/accounts/nothing\(suffix)")
            #expect(theirs.status == .notFound && none.status == .notFound)
            #expect(theirs.text == none.text && theirs.headers == none.headers)
            let unsigned = try await Browser(client, user: nil).send(method, "/accounts/\(login.id)\(suffix)")
            #expect(unsigned.status == .unauthorized)
        }
        #expect(try await world.users.vault.login(login.id) == login)
        #expect(world.transport.requestCount == 0)
    }

    /// For Swift, two spellings of an accent are one string; for the vault, they are two users.
    @Test func usersAreComparedAsBytes() async throws {
        let world = try await World { $0.signedIn = { _, _ in "zo\u{E9}" } }
        let login = try await world.addLogin("zoe\u{301}")
        try await world.serve { client in
            let other = try await Browser(client).send(.delete, "/accounts/\(login.id)")
            #expect(other.status == .notFound)
        }
        #expect(try await world.users.vault.login(login.id) == login)
    }

    static let foreign: [HTTPFields] = [
        [.secFetchSite: "cross-site", .origin: "https://app.example"], [.secFetchSite: "same-site"],
        [.secFetchSite: "Same-Origin "], [.secFetchSite: ""], [.origin: "https://evil.example"], [.origin: "null"],
        [.origin: "http://app.example"], [.origin: "https://app.example.evil.example"],
        [.origin: "https://app.example:8443"], [.origin: ""],
    ]

    @Test(arguments: changes, foreign)
    func otherSitesChangeNothing(change: (HTTPRequest.Method, String), headers: HTTPFields) async throws {
        let world = try await World()
        let login = try await world.addLogin()
        try await world.serve { client in
            let path = "/accounts/\(login.id)\(change.1)"
            let refused = try await Browser(client).send(change.0, path, headers: headers)
            #expect(refused.status == .forbidden)
            #expect(refused.text == "{\"error\":\"fromOtherSite\"}\n")
            #expect(refused.headers[.setCookie] == nil)
        }
        #expect(try await world.users.vault.login(login.id) == login)
        #expect(world.transport.requestCount == 0)
    }

    @Test(
        arguments: [
            [.secFetchSite: "same-origin"], [.secFetchSite: "none"], [.origin: "https://app.example"], [:],
        ] as [HTTPFields])
    func ownPagesAndProgramsMayChange(headers: HTTPFields) async throws {
        let world = try await World()
        let login = try await world.addLogin()
        try await world.serve { client in
            let done = try await Browser(client).send(.post, "/accounts/\(login.id)/reconnect", headers: headers)
            #expect(done.status == .seeOther)
        }
    }

    @Test func anAccountOfNoOfferedProviderStays() async throws {
        let world = try await World()
        let own = try await world.users.addLogin(userId: "alice", accessToken: Sample.accessToken())
        try await world.serve { client in
            let refused = try await Browser(client).send(.post, "/accounts/\(own.id)/reconnect")
            #expect(refused.status == .notFound)
        }
    }

    @Test func aTenantsRoutesKnowItsUsersAlone() async throws {
        let tenant = try #require(Tenant("contoso"))
        let world = try await World(scopedTo: tenant)
        let login = try await world.addLogin()
        try await world.serve { client in
            let browser = Browser(client)
            let list = try await browser.get("/accounts")
            #expect(list.text.contains(login.id.description) && list.text.contains(#""provider":"acme""#))
            let state = try await browser.begin()
            #expect(try await browser.get("/callback?code=CANARY-code&state=\(state)").status == .seeOther)
            #expect(try await browser.send(.delete, "/accounts/\(login.id)").status == .ok)
        }
        #expect(try await world.routes.accounts(of: "alice").count == 1)
        let whole = try await UserManager(
            vault: world.temporary.vault, transport: world.transport, options: .deterministic)
        let others = try World.routes(whole, ["acme": "https://app.example/callback"])
        #expect(try await others.accounts(of: "alice").isEmpty)
    }

    @Test func theRoutesMayStandBelowAPrefix() async throws {
        let world = try await World { $0.prefix = "/api" }
        _ = try await world.addLogin()
        try await world.serve { client in
            let browser = Browser(client)
            #expect(try await browser.get("/accounts").status == .notFound)
            #expect(try await browser.get("/api/accounts").status == .ok)
            let state = try await browser.begin("/api/login")
            #expect(try await browser.get("/callback?code=CANARY-code&state=\(state)").status == .seeOther)
        }
    }

    @Test func readinessIsTheVaultsAlone() async throws {
        let world = try await World()
        world.transport.simulate(.temporary)
        try await world.serve { client in
            let browser = Browser(client, user: nil)
            #expect(try await browser.get("/health/live").text == "{\"status\":\"live\"}\n")
            #expect(try await browser.get("/health/ready").text == "{\"status\":\"ready\"}\n")
            await world.temporary.vault.close()
            let unready = try await browser.get("/health/ready")
            #expect(unready.status == .serviceUnavailable)
            #expect(unready.text == "{\"status\":\"notReady\",\"error\":\"closed\"}\n")
            #expect(try await browser.get("/health/live").status == .ok)
        }
    }
}

extension HTTPField.Name {
    static var secFetchSite: HTTPField.Name { HTTPField.Name("Sec-Fetch-Site") ?? .origin }
}
