import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuthClient
import Testing
import TokenVault
import TokenVaultHummingbird
import TokenVaultTesting

struct LogInRouteTests {
    @Test func aLogInSendsTheBrowserToTheProvider() async throws {
        let world = try await World()
        try await world.serve { client in
            let begun = try await Browser(client).get("/login")
            #expect(begun.status == .seeOther)
            let location = try #require(begun.headers[.location])
            #expect(location.hasPrefix("https://acme.example/authorize?"))
            #expect(begun.headers[.cacheControl] == "no-store")
            let cookie = try #require(begun.headers[.setCookie])
            let state = try #require(location.parameter("state"))
            let parts = Set(cookie.split(separator: ";").dropFirst().map { String($0.drop { $0 == " " }) })
            #expect(cookie.hasPrefix("__Host-login-\(state)="))
            #expect(parts == ["HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=600"])
            // The binding is for the cookie alone.
            #expect(!location.contains(cookie.prefix { $0 != ";" }.split(separator: "=")[1]))
        }
    }

    @Test func aCallbackCompletesTheLogIn() async throws {
        let world = try await World()
        try await world.serve { client in
            let browser = Browser(client)
            let state = try await browser.begin("/login?provider=acme&returnTo=%2Fcalendar%3Fday%3D1")
            let done = try await browser.get("/callback?code=CANARY-code&state=\(state)")
            #expect(done.status == .seeOther, "\(done.text)")
            #expect(done.headers[.location] == "/calendar?day=1")
            #expect(done.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(browser.cookies.isEmpty)
        }
        #expect(try await world.users.accessToken(userId: "alice").generation == 1)
        #expect(world.transport.requests.first?.form["redirect_uri"] == "https://app.example/callback")
    }

    @Test func onlyTheBrowserThatBeganCompletes() async throws {
        let world = try await World()
        try await world.serve { client in
            let (mine, other) = (Browser(client), Browser(client))
            let state = try await mine.begin()
            let callback = "/callback?code=CANARY-code&state=\(state)"
            #expect(try await other.get(callback).status == .forbidden)
            // Neither another log-in's cookie nor a planted one helps.
            let another = try await other.begin()
            other.take(other.give().map { ($0.name.replacing(another, with: state), $0.value) })
            let refused = try await other.get(callback)
            #expect(refused.status == .forbidden)
            #expect(refused.text == "{\"error\":\"logInNotBound\"}\n")
            #expect(world.transport.requestCount == 0)
            #expect(try await mine.get(callback).status == .seeOther)
        }
    }

    @Test func onlyTheSessionOfItsUserCompletes() async throws {
        let world = try await World()
        try await world.serve { client in
            let (alice, bob, nobody) = (Browser(client), Browser(client, user: "bob"), Browser(client, user: nil))
            let callback = "/callback?code=CANARY-code&state=\(try await alice.begin())"
            bob.take(alice.give())
            #expect(try await bob.get(callback).status == .forbidden)
            #expect(world.transport.requestCount == 0)
            // A session cookie with SameSite=Strict does not come with the provider's redirect.
            nobody.take(alice.give())
            #expect(try await nobody.get(callback).status == .seeOther)
        }
        #expect(try await world.users.accessToken(userId: "alice").generation == 1)
    }

    @Test func noLogInBeginsWithoutASession() async throws {
        let world = try await World()
        try await world.serve { client in
            let refused = try await Browser(client, user: nil).get("/login")
            #expect(refused.status == .unauthorized)
            #expect(refused.headers[.setCookie] == nil)
            #expect(refused.text == "{\"error\":\"notSignedIn\"}\n")
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/%5Cevil.example", "%2F%2Fevil.example", "%5C%5Cevil.example", "",
        "javascript:alert(1)", "/a%0D%0ASet-Cookie:%20x=y", "/%09/evil.example", "calendar", "/a%20b", "/%C3%A9",
    ])
    func noRedirectLeavesTheService(returnTo: String) async throws {
        let world = try await World()
        try await world.serve { client in
            let refused = try await Browser(client).get("/login?returnTo=\(returnTo)")
            #expect(refused.status == .badRequest)
            #expect(refused.headers[.location] == nil && refused.headers[.setCookie] == nil)
        }
    }

    @Test func eachProviderHasItsCallback() async throws {
        let world = try await World([
            "acme": "https://app.example/callback/acme", "other": "https://app.example/callback/other",
        ])
        try await world.serve { client in
            let browser = Browser(client)
            #expect(try await browser.get("/login?provider=nobody").status == .notFound)
            let state = try await browser.begin("/login?provider=other")
            // A callback that came to the wrong address may be another server's.
            let wrong = try await browser.get("/callback/acme?code=CANARY-code&state=\(state)")
            #expect(wrong.status == .badGateway)
            let again = try await browser.begin("/login?provider=other")
            #expect(try await browser.get("/callback/other?code=CANARY-code&state=\(again)").status == .seeOther)
        }
        #expect(world.transport.requests.map(\.request.authority) == ["other.example"])
    }

    @Test func logInsInSeveralTabsDoNotDisturbEachOther() async throws {
        let world = try await World()
        try await world.serve { client in
            let browser = Browser(client)
            var states: [String] = []
            for _ in 0..<7 { states.append(try await browser.begin()) }
            #expect(browser.cookies == states.suffix(5).map { "__Host-login-\($0)" })
            for state in states.suffix(5) {
                #expect(try await browser.get("/callback?code=CANARY-code&state=\(state)").status == .seeOther)
            }
            #expect(try await browser.get("/callback?code=CANARY-code&state=\(states[0])").status == .forbidden)
        }
    }

    @Test func refusalsAndRepeatsAreAnswered() async throws {
        let world = try await World()
        try await world.serve { client in
            let browser = Browser(client)
            let denied = try await browser.get("/callback?error=access_denied&state=\(try await browser.begin())")
            #expect(denied.status == .forbidden)
            #expect(denied.text == "{\"error\":\"logInRefused\"}\n")
            let callback = "/callback?code=CANARY-code&state=\(try await browser.begin())"
            let cookies = browser.give()
            #expect(try await browser.get(callback).status == .seeOther)
            browser.take(cookies)
            #expect(try await browser.get(callback).status == .gone)
            #expect(try await browser.get("/callback").status == .forbidden)
            #expect(try await browser.get("/callback?code=CANARY-code&state=%0D%0A%3B").status == .forbidden)
        }
    }

    @Test func anOutageLetsTheSameCallbackBeRepeated() async throws {
        let world = try await World()
        world.transport.enqueue(.failure(.notSent, .connect))
        try await world.serve { client in
            let browser = Browser(client)
            let callback = "/callback?code=CANARY-code&state=\(try await browser.begin())"
            let failed = try await browser.get(callback)
            #expect(failed.status == .serviceUnavailable)
            #expect(failed.headers[.retryAfter] != nil)
            #expect(try await browser.get(callback).status == .seeOther)
        }
    }

    @Test func plainHTTPOnThisMachineHasAPlainCookie() async throws {
        let world = try await World(["acme": "http://127.0.0.1:8080/callback"])
        try await world.serve { client in
            let browser = Browser(client)
            let begun = try await browser.get("/login")
            let cookie = try #require(begun.headers[.setCookie])
            #expect(cookie.hasPrefix("login-") && !cookie.contains("Secure") && cookie.contains("HttpOnly"))
            let state = try #require(begun.headers[.location]?.parameter("state"))
            #expect(try await browser.get("/callback?code=CANARY-code&state=\(state)").status == .seeOther)
        }
    }

    @Test func redirectURIsAreOfOneWebService() async throws {
        let world = try await World()
        for providers: KeyValuePairs in [
            ["acme": "com.example.app:/callback"],
            ["acme": "https://app.example/a", "other": "https://evil.example/b"],
        ] {
            #expect {
                _ = try World.routes(world.users, providers)
            } throws: { ($0 as? VaultError)?.code == .invalidArgument }
        }
    }

    @Test func closuresDecideTheAnswers() async throws {
        let world = try await World { routes in
            routes.notSignedIn = { _, _ in Response(status: .seeOther, headers: [.location: "/sign-in"]) }
            routes.afterLogIn = { done, _, _ in
                Response(status: .seeOther, headers: [.location: "/account/\(done.login.id)"])
            }
            routes.answer = { error, _, _ in Response(status: .seeOther, headers: [.location: "/sorry/\(error.code)"]) }
        }
        try await world.serve { client in
            #expect(try await Browser(client, user: nil).get("/login").headers[.location] == "/sign-in")
            let browser = Browser(client)
            let done = try await browser.get("/callback?code=CANARY-code&state=\(try await browser.begin())")
            #expect(done.headers[.location]?.hasPrefix("/account/") == true)
            #expect(done.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(try await browser.get("/callback").headers[.location] == "/sorry/logInNotBound")
        }
    }

    @Test func aContextWithAForeignPathLeadsHome() async throws {
        let world = try await World()
        let routes = world.routes
        let router = Router()
        routes.add(to: router)
        router.get("own") { request, _ in
            try await routes.begin(
                LogInRequest(userId: "alice", provider: "acme", label: "work", context: ["returnTo": "//evil.example"]),
                request)
        }
        try await Application(router: router).test(.router) { client in
            let browser = Browser(client)
            let done = try await browser.get("/callback?code=CANARY-code&state=\(try await browser.begin("/own"))")
            #expect(done.headers[.location] == "/")
        }
        #expect(try await routes.accounts(of: "alice").map(\.label) == ["work"])
    }
}
