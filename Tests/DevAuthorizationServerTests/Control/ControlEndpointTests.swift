import DevAuthorizationServer
import Testing

struct ControlEndpointTests {
    private func post(_ server: DevAuthorizationServer, _ path: String, _ body: String = "") async throws -> WireReply {
        try await Wire.send("POST", server.base + path, body: body)
    }

    @Test func logTellsWhatHappenedAndNoSecret() async throws {
        try await withServer({ $0.secretMarker = "canary" }) { server in
            let client = Client(server)
            let login = try await client.logIn(user: "bob")
            _ = try await client.refresh(login.refresh)
            _ = try await client.refresh(login.refresh)
            let reply = try await Wire.get(server.base + "/dev/log")
            #expect(login.refresh.contains("canary"))
            #expect(!reply.text.contains("canary"))
            let records = try JSON.array(reply.body)
            #expect(records.map { $0["path"] as? String } == ["/authorize", "/token", "/token", "/token"])
            #expect(records.map { $0["outcome"] as? String } == ["ok", "ok", "ok", "invalid_grant"])
            #expect(records.map { $0["user"] as? String } == ["bob", "bob", "bob", "bob"])
            #expect(records.last?["reason"] as? String == "reused refresh token")
            let fingerprint = TokenFingerprint.of(login.refresh)
            #expect((records[1]["tokens"] as? [String: String])?["issued_refresh_token"] == fingerprint)
            #expect((records[2]["tokens"] as? [String: String])?["refresh_token"] == fingerprint)
            #expect(server.log.tokenRequests(user: "bob").count == 2)

            let later = try await Wire.get(server.base + "/dev/log?after=3")
            #expect(try JSON.array(later.body).count == 1)
            #expect(try await Wire.send("DELETE", server.base + "/dev/log").status == 204)
            #expect(server.log.records.isEmpty)
            _ = try await client.refresh("x")
            #expect(server.log.records.first?.sequence == 5)
        }
    }

    @Test func grantsCanBeListedIssuedAndEnded() async throws {
        try await withServer { server in
            let issued = try await post(server, "/dev/grants", #"{"user":"a/b","client":"demo","scope":"read"}"#)
            let token = try #require(try issued.string("refresh_token"))
            let kept = try #require(server.issueGrant(user: "kept"))
            let list = try JSON.array(try await Wire.get(server.base + "/dev/grants").body)
            #expect(list.map { $0["user"] as? String } == ["a/b", "kept"])
            #expect(try await post(server, "/dev/users/a%2Fb/revoke").json["revoked"] as? Int == 1)
            #expect(try await Client(server).refresh(token).error == "invalid_grant")
            #expect(try await Client(server).refresh(kept.refreshToken ?? "").status == 200)
            #expect(try await post(server, "/dev/grants/g2/expire-access-tokens").json["grants"] as? Int == 1)
            #expect(try await post(server, "/dev/grants/g2/revoke").json["revoked"] as? Int == 1)
            #expect(try await post(server, "/dev/grants/g2/revoke").json["revoked"] as? Int == 0)
            let counters = try await Wire.get(server.base + "/dev/counters").json
            #expect(counters["grants_revoked"] as? Int == 2)
            #expect(counters["rotated"] as? Int == 1)
        }
    }

    @Test func clockMakesTokensAge() async throws {
        try await withServer { server in
            let login = try #require(server.issueGrant(user: "alice"))
            _ = try await post(server, "/dev/clock", #"{"advance_seconds":3000}"#)
            #expect(try await Client(server).resource("Bearer " + login.accessToken).status == 200)
            _ = try await post(server, "/dev/clock", #"{"advance_seconds":600}"#)
            #expect(try await Client(server).resource("Bearer " + login.accessToken).status == 401)
        }
    }

    @Test func faultsCanBeScripted() async throws {
        try await withServer { server in
            let body = """
                [{"name":"one","status":503,"headers":{"Retry-After":"2","Content-Type":null},"body":"later"},
                 {"name":"two","path":"*","ending":"close","acts":true,"user":"alice","times":0},
                 {"name":"three","members":{"scope":null,"expires_in":0},"delay_ms":1}]
                """
            #expect(try await post(server, "/dev/faults", body).json["pending"] as? Int == 3)
            #expect(server.faults.pending.map(\.acts) == [false, true, true])
            let reply = try await Client(server).refresh("x")
            #expect((reply.status, reply.text) == (503, "later"))
            #expect(reply.header("retry-after") == "2")
            let pending = try JSON.array(try await Wire.get(server.base + "/dev/faults").body)
            #expect(pending.map { $0["name"] as? String } == ["two", "three"])
            #expect(try await Wire.send("DELETE", server.base + "/dev/faults").status == 204)
            #expect(server.faults.pending.isEmpty)
        }
    }

    @Test(arguments: [
        ("/dev/faults", "x"), ("/dev/faults", "[1]"), ("/dev/faults", #"{"stauts":1}"#),
        ("/dev/faults", #"{"status":99}"#), ("/dev/faults", #"{"ending":"explode"}"#),
        ("/dev/faults", #"{"headers":{"a b":"c"}}"#), ("/dev/faults", #"{"headers":{"a":"b\r\nc: d"}}"#),
        ("/dev/faults", #"{"times":-1}"#), ("/dev/clock", #"{"advance_seconds":"1"}"#),
        ("/dev/clock", #"{"advance":1}"#), ("/dev/grants", #"{"user":1}"#),
    ])
    func wrongControlRequestsAreRefused(path: String, body: String) async throws {
        try await withServer { server in
            let reply = try await post(server, path, body)
            #expect(reply.status == 400)
            #expect(reply.error?.isEmpty == false)
            #expect(server.faults.pending.isEmpty)
        }
    }

    @Test func webPagesAreKeptOut() async throws {
        try await withServer { server in
            let url = server.base + "/dev/log"
            #expect(try await Wire.get(url, headers: [("Host", "evil.example:\(server.port)")]).status == 403)
            #expect(try await Wire.get(url, headers: [("Origin", "https://evil.example")]).status == 403)
            let reply = try await Wire.get(url)
            #expect(reply.header("x-dev-control") == "not part of an authorization server")
            #expect(try await Wire.get(server.base + "/dev/nothing").status == 404)
            #expect(try await Wire.get(server.base + "/dev").status == 200)
        }
    }
}
