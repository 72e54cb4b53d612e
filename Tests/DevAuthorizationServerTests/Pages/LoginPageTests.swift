import DevAuthorizationServer
import Testing

struct LoginPageTests {
    private func ticket(of page: WireReply) throws -> String {
        let start = try #require(page.text.firstRange(of: "name=\"ticket\" value=\""))
        return String(page.text[start.upperBound...].prefix { $0 != "\"" })
    }

    private func decide(_ server: DevAuthorizationServer, _ parameters: [(String, String)]) async throws -> WireReply {
        try await Wire.post(server.base + "/authorize/decision", parameters)
    }

    @Test func pageAsksAndApprovalGivesACode() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server in
            let page = try await Client(server).authorize()
            #expect(page.status == 200)
            #expect(server.counters.codesIssued == 0)
            let ticket = try ticket(of: page)
            let answer = [("ticket", ticket), ("user", "dora"), ("decision", "approve")]
            let reply = try await decide(server, answer)
            #expect(reply.status == 303)
            #expect(reply.redirectParameters["state"] == "s t&te")
            let code = try #require(reply.redirectParameters["code"])
            #expect(try await Client(server).exchange(code).status == 200)
            #expect(server.grants.map(\.user) == ["dora"])
            // The page is good for one answer.
            #expect(try await decide(server, answer).status == 400)
        }
    }

    @Test func denialIsToldToTheClient() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server in
            let page = try await Client(server).authorize()
            let reply = try await decide(server, [("ticket", ticket(of: page)), ("decision", "deny"), ("user", "")])
            #expect(reply.status == 303)
            #expect(reply.redirectParameters["error"] == "access_denied")
            #expect(reply.redirectParameters["iss"] == server.issuer)
        }
    }

    @Test func inventedTicketIsRefused() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server async throws in
            #expect(try await decide(server, [("ticket", "x"), ("decision", "approve")]).status == 400)
            #expect(try await decide(server, [("decision", "approve")]).status == 400)
        }
    }

    @Test func silentRequestIsRefusedWhenNobodyIsLoggedIn() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server in
            let reply = try await Client(server).authorize([("prompt", "none")])
            #expect(reply.redirectParameters["error"] == "login_required")
        }
    }

    @Test func textOfTheRequestIsEscaped() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server in
            let page = try await Client(server).authorize([("login_hint", "\"><script>alert('1')</script>&")])
            #expect(!page.text.contains("<script"))
            #expect(page.text.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"))
        }
    }

    @Test func pageMayLoadAndRunNothing() async throws {
        try await withServer({ $0.approvesAutomatically = false }) { server in
            let page = try await Client(server).authorize()
            let policy = try #require(page.header("content-security-policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-"))
            #expect(policy.contains("form-action 'self' http://127.0.0.1:5123;"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(page.header("x-frame-options") == "DENY")
            #expect(page.header("referrer-policy") == "no-referrer")
            #expect(page.header("cache-control") == "no-store")
        }
    }
}
