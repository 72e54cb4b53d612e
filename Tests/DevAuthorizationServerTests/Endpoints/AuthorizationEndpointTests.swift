import DevAuthorizationServer
import Testing

struct AuthorizationEndpointTests {
    @Test func codeComesBackWithStateAndIssuer() async throws {
        try await withServer { server in
            let reply = try await Client(server).authorize()
            #expect(reply.status == 302)
            let location = try #require(reply.header("location"))
            #expect(location.hasPrefix(Client.redirectURI + "?code="))
            #expect(reply.redirectParameters["state"] == "s t&te")
            #expect(reply.redirectParameters["iss"] == server.issuer)
            #expect(reply.header("cache-control") == "no-store")
        }
    }

    @Test func requestMayBePosted() async throws {
        try await withServer { server in
            let client = Client(server)
            let reply = try await Wire.post(server.base + "/authorize", client.authorizationParameters())
            #expect(reply.status == 302)
            #expect(reply.redirectParameters["code"] != nil)
        }
    }

    /// RFC 6749 §4.1.2.1: never redirect to an address that is not known to be the client's.
    @Test(
        arguments: [
            [("client_id", nil)], [("client_id", "nobody")], [("redirect_uri", nil)],
            [("redirect_uri", "http://127.0.0.1:5123/callback/")], [("redirect_uri", "http://127.0.0.1:5123/other")],
            [("redirect_uri", "http://localhost:5123/callback")], [("redirect_uri", "https://127.0.0.1:5123/callback")],
            [("redirect_uri", "http://127.0.0.1:5123@evil.example/callback")],
            [("redirect_uri", "http://127.0.0.1.evil.example/callback")],
            [("redirect_uri", "http://127.0.0.1:0/callback")], [("redirect_uri", "http://127.0.0.1:99999/callback")],
            [("redirect_uri", "https://app.example:444/callback")],
            [("redirect_uri", "https://app.example/callback?x")],
            [("redirect_uri", "HTTPS://app.example/callback")],
        ] as [[(String, String?)]])
    func wrongClientOrRedirectStaysOnAPage(changes: [(String, String?)]) async throws {
        try await withServer { server in
            let reply = try await Client(server).authorize(changes)
            #expect(reply.status == 400)
            #expect(reply.header("location") == nil)
            #expect(reply.header("content-type") == "text/html; charset=utf-8")
        }
    }

    @Test(arguments: [
        "http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://[::1]:65535/callback",
        "https://app.example/callback",
    ])
    func registeredRedirectsPassOnAnyLoopbackPort(uri: String) async throws {
        try await withServer { server in
            let reply = try await Client(server).authorize([("redirect_uri", uri)])
            #expect(reply.status == 302)
            #expect(reply.header("location")?.hasPrefix(uri + "?") == true)
        }
    }

    @Test(
        arguments: [
            ([("response_type", nil)], "invalid_request"), ([("response_type", "token")], "unsupported_response_type"),
            ([("response_mode", "fragment")], "invalid_request"), ([("code_challenge", nil)], "invalid_request"),
            ([("code_challenge_method", nil)], "invalid_request"),
            ([("code_challenge_method", "plain")], "invalid_request"),
            ([("code_challenge", "short")], "invalid_request"),
            ([("code_challenge", "======================================+====")], "invalid_request"),
            ([("dpop_jkt", "short")], "invalid_request"), ([("scope", "everything")], "invalid_scope"),
            ([("scope", "read  write")], "invalid_scope"), ([("scope", "re\"ad")], "invalid_scope"),
            ([("request", "x")], "request_not_supported"), ([("request_uri", "x")], "request_uri_not_supported"),
        ] as [([(String, String?)], String)])
    func otherFaultsAreToldToTheClient(changes: [(String, String?)], error: String) async throws {
        try await withServer { server in
            let reply = try await Client(server).authorize(changes)
            #expect(reply.status == 302)
            #expect(reply.redirectParameters["error"] == error)
            #expect(reply.redirectParameters["state"] == "s t&te")
            #expect(reply.redirectParameters["iss"] == server.issuer)
            #expect(reply.redirectParameters["code"] == nil)
            #expect(server.counters.codesIssued == 0)
        }
    }

    @Test func duplicateParameterIsRefusedWithoutARedirect() async throws {
        try await withServer { server in
            let query = Wire.form(Client(server).authorizationParameters() + [("state", "again")])
            let reply = try await Wire.get(server.base + "/authorize?" + query)
            #expect(reply.status == 400)
        }
    }

    @Test func confidentialClientMayGoWithoutPKCE() async throws {
        try await withServer { server in
            let client = Client.basic(server)
            let code = try await client.code([("code_challenge", nil), ("code_challenge_method", nil)])
            #expect(try await client.exchange(code, [("code_verifier", nil)]).status == 200)
            // RFC 9700 §2.1.1: a verifier where no challenge was is a downgrade.
            let second = try await client.code([("code_challenge", nil), ("code_challenge_method", nil)])
            #expect(try await client.exchange(second).error == "invalid_grant")
        }
    }

    @Test func defaultUserSignsInWithoutAHint() async throws {
        try await withServer({ $0.defaultUser = "carol" }) { server in
            let client = Client(server)
            _ = try await client.exchange(try await client.code([("login_hint", nil)]))
            #expect(server.grants.map(\.user) == ["carol"])
        }
    }
}
