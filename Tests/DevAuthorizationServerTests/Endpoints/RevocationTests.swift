import DevAuthorizationServer
import Testing

struct RevocationTests {
    private func revoke(
        _ client: Client, _ token: String?, hint: String? = nil
    ) async throws -> WireReply {
        var parameters = client.credentials
        if let token { parameters.append(("token", token)) }
        if let hint { parameters.append(("token_type_hint", hint)) }
        return try await Wire.post(client.server.base + "/revoke", parameters, headers: client.headers)
    }

    @Test(arguments: [nil, "refresh_token", "access_token", "nonsense"] as [String?])
    func refreshTokenTakesTheGrantAlong(hint: String?) async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            let reply = try await revoke(client, login.refresh, hint: hint)
            #expect(reply.status == 200)
            #expect(reply.body.isEmpty)
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
            #expect(try await client.resource("Bearer " + login.access).status == 401)
        }
    }

    @Test func spentRefreshTokenRevokesItsGrantToo() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            let rotated = try #require(try await client.refresh(login.refresh).string("refresh_token"))
            #expect(try await revoke(client, login.refresh).status == 200)
            #expect(try await client.refresh(rotated).error == "invalid_grant")
        }
    }

    @Test func accessTokenGoesAlone() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            #expect(try await revoke(client, login.access).status == 200)
            #expect(try await client.resource("Bearer " + login.access).status == 401)
            #expect(try await client.refresh(login.refresh).status == 200)
        }
    }

    /// RFC 7009 §2.2: an invalid token is as good as revoked.
    @Test func unknownOrRevokedTokenIsNoError() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            #expect(try await revoke(client, "unknown").status == 200)
            #expect(try await revoke(client, login.refresh).status == 200)
            #expect(try await revoke(client, login.refresh).status == 200)
        }
    }

    @Test func wrongRequestsAreRefused() async throws {
        try await withServer { server in
            let login = try await Client(server).logIn()
            #expect(try await revoke(Client(server), nil).error == "invalid_request")
            #expect(try await revoke(.basic(server, secret: "wrong"), login.refresh).error == "invalid_client")
            #expect(try await revoke(.basic(server), login.refresh).status == 400)
            #expect(try await Client(server).refresh(login.refresh).status == 200)
        }
    }
}

struct IntrospectionTests {
    private func introspect(_ client: Client, _ token: String) async throws -> WireReply {
        try await Wire.post(
            client.server.base + "/introspect", client.credentials + [("token", token)], headers: client.headers)
    }

    @Test func liveTokensAreDescribed() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let login = try await client.logIn(proof: key.proof("POST", client.tokenURL))
            for token in [login.access, login.refresh] {
                let reply = try await introspect(.basic(server), token)
                let json = try reply.json
                #expect(json["active"] as? Bool == true)
                #expect(json["client_id"] as? String == "demo")
                #expect(json["sub"] as? String == "alice")
                #expect(json["scope"] as? String == "read write")
                #expect((json["cnf"] as? [String: String])?["jkt"] == key.thumbprint)
                #expect(reply.header("cache-control") == "no-store")
            }
            #expect(try await introspect(.post(server), login.access).string("token_type") == "DPoP")
        }
    }

    /// RFC 7662 §2.2: nothing but `active` is told about a token that is not.
    @Test func deadTokensAreJustInactive() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            _ = try await client.refresh(login.refresh)
            for token in [login.refresh, "unknown"] {
                #expect(try await introspect(.basic(server), token).text == "{\"active\":false}")
            }
            server.advanceClock(by: .seconds(3601))
            #expect(try await introspect(.basic(server), login.access).text == "{\"active\":false}")
        }
    }

    @Test func publicClientsMayNotAsk() async throws {
        try await withServer { server async throws in
            #expect(try await introspect(Client(server), "x").error == "invalid_client")
        }
    }
}
