import DevAuthorizationServer
import Testing

struct TokenEndpointTests {
    @Test func codeBecomesTokens() async throws {
        try await withServer({ $0.accessTokenLifetime = .seconds(120) }) { server in
            let client = Client(server)
            let reply = try await client.exchange(try await client.code())
            #expect(reply.status == 200)
            #expect(reply.header("cache-control") == "no-store")
            #expect(reply.header("content-type") == "application/json")
            #expect(try reply.string("token_type") == "Bearer")
            #expect(try reply.string("scope") == "read write")
            #expect(try reply.json["expires_in"] as? Int == 120)
            #expect(try reply.json["id_token"] == nil)
        }
    }

    @Test(
        arguments: [
            ([("code_verifier", "wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong")], "invalid_grant"),
            ([("code_verifier", nil)], "invalid_request"), ([("code_verifier", "short")], "invalid_request"),
            ([("redirect_uri", nil)], "invalid_request"),
            ([("redirect_uri", "http://127.0.0.1:5124/callback")], "invalid_grant"),
            ([("code", nil)], "invalid_request"), ([("code", "unknown")], "invalid_grant"),
            ([("code", "")], "invalid_request"), ([("grant_type", nil)], "invalid_request"),
            ([("grant_type", "password")], "unsupported_grant_type"), ([("client_id", nil)], "invalid_client"),
            ([("client_id", "nobody")], "invalid_client"), ([("client_secret", "x")], "invalid_client"),
        ] as [([(String, String?)], String)])
    func wrongExchangeIsRefused(changes: [(String, String?)], error: String) async throws {
        try await withServer { server in
            let client = Client(server)
            let reply = try await client.exchange(try await client.code(), changes)
            #expect(reply.status == (error == "invalid_client" ? 401 : 400))
            #expect(reply.error == error)
            #expect(reply.header("cache-control") == "no-store")
            #expect(server.counters.accessTokensIssued == 0)
        }
    }

    @Test func secondUseOfACodeRevokesWhatItGave() async throws {
        try await withServer { server in
            let client = Client(server)
            let code = try await client.code()
            let first = try await client.exchange(code)
            #expect(try await client.exchange(code).error == "invalid_grant")
            let refreshToken = try #require(try first.string("refresh_token"))
            #expect(try await client.refresh(refreshToken).error == "invalid_grant")
            let accessToken = try #require(try first.string("access_token"))
            #expect(try await client.resource("Bearer " + accessToken).status == 401)
            #expect(server.counters.reuseDetected == 1)
        }
    }

    @Test func codeExpiresAfterAMinute() async throws {
        try await withServer { server in
            let client = Client(server)
            let early = try await client.code()
            server.advanceClock(by: .seconds(30))
            #expect(try await client.exchange(early).status == 200)
            let late = try await client.code()
            server.advanceClock(by: .seconds(60))
            #expect(try await client.exchange(late).error == "invalid_grant")
        }
    }

    @Test func codeBelongsToItsClient() async throws {
        try await withServer { server in
            let code = try await Client(server).code()
            #expect(try await Client.basic(server).exchange(code).error == "invalid_grant")
            #expect(try await Client(server).exchange(code).status == 200)
        }
    }

    @Test func duplicateParameterIsRefused() async throws {
        try await withServer { server in
            let client = Client(server)
            let code = try await client.code()
            let reply = try await client.token([
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Client.redirectURI),
                ("code_verifier", Client.verifier), ("code", code),
            ])
            #expect(reply.error == "invalid_request")
        }
    }

    @Test(
        arguments: [
            nil, "application/json", "text/plain", "application/x-www-form-urlencoded; charset=latin1",
            "multipart/form-data; boundary=x",
        ] as [String?])
    func otherContentTypesAreRefused(type: String?) async throws {
        try await withServer { server in
            let body = "grant_type=refresh_token&client_id=demo&refresh_token=x"
            let headers = type.map { [("Content-Type", $0)] } ?? []
            let reply = try await Wire.send("POST", server.base + "/token", headers: headers, body: body)
            #expect(reply.status == 400)
            #expect(reply.error == "invalid_request")
        }
    }

    @Test(arguments: ["grant_type=%zz", "grant_type=%f", "grant_type=%ff", "grant_type=%"])
    func brokenEncodingIsRefused(body: String) async throws {
        try await withServer { server in
            let type = [("Content-Type", "Application/X-WWW-Form-Urlencoded;charset=UTF-8")]
            let reply = try await Wire.send("POST", server.base + "/token", headers: type, body: body)
            #expect(reply.error == "invalid_request")
        }
    }

    @Test func parametersInTheURLAreRefused() async throws {
        try await withServer { server in
            let reply = try await Wire.post(
                server.base + "/token?client_id=demo", [("grant_type", "refresh_token"), ("refresh_token", "x")])
            #expect(reply.error == "invalid_request")
        }
    }

    @Test func onlyPostIsServed() async throws {
        try await withServer { server in
            for path in ["/token", "/revoke", "/introspect"] {
                let reply = try await Wire.get(server.base + path)
                #expect(reply.status == 405)
                #expect(reply.header("allow") == "POST")
            }
        }
    }

    @Test func hugeBodyIsRefused() async throws {
        try await withServer { server in
            let reply = try await Wire.post(server.base + "/token", [("x", String(repeating: "a", count: 70_000))])
            #expect(reply.status == 400)
        }
    }

    @Test func clientsMayHaveNoRefreshTokens() async throws {
        try await withServer({ $0.clients[0].receivesRefreshTokens = false }) { server in
            let client = Client(server)
            let reply = try await client.exchange(try await client.code())
            #expect(reply.status == 200)
            #expect(try reply.json["refresh_token"] == nil)
        }
    }

    @Test func expiryMayBeLeftOut() async throws {
        try await withServer({ $0.announcesExpiry = false }) { server async throws in
            let client = Client(server)
            #expect(try await client.exchange(try await client.code()).json["expires_in"] == nil)
        }
    }
}
