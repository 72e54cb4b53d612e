import DevAuthorizationServer
import Foundation
import Testing

/// RFC 8707.
struct ResourceIndicatorTests {
    private func open(
        _ server: DevAuthorizationServer, _ path: String, _ token: String
    ) async throws -> Int {
        try await Wire.get(server.base + path, headers: [("Authorization", "Bearer " + token)]).status
    }

    @Test func accessTokenOpensTheResourcesThatItIsForAndNoOther() async throws {
        try await withServer { server async throws in
            let client = Client(server)
            let (one, two) = (server.base + "/resource/one", server.base + "/resource/two")
            let code = try #require(
                try await Wire.get(
                    server.base + "/authorize?"
                        + Wire.form(client.authorizationParameters() + [("resource", one), ("resource", two)])
                ).redirectParameters["code"])
            let both = try await client.exchange(code)
            let wide = try #require(try both.string("access_token"))
            #expect(try await open(server, "/resource/one", wide) == 200)
            #expect(try await open(server, "/resource/two", wide) == 200)
            #expect(try await open(server, "/resource", wide) == 401)
            #expect(server.log.records.last?.reason == "wrong audience")

            let narrow = try await client.refresh(
                try #require(try both.string("refresh_token")), [("resource", two)])
            let token = try #require(try narrow.string("access_token"))
            #expect(try await open(server, "/resource/one", token) == 401)
            #expect(try await open(server, "/resource/two", token) == 200)
            #expect(try await audience(of: token, server) == [two])
            #expect(server.log.records.last { $0.path == "/token" }?.resources == [two])

            // The grant is as wide as before.
            let again = try await client.refresh(try #require(try narrow.string("refresh_token")))
            #expect(try await audience(of: try #require(try again.string("access_token")), server) == [one, two])
        }
    }

    private func audience(of token: String, _ server: DevAuthorizationServer) async throws -> [String]? {
        let basic = Data("demo-basic:demo-basic-secret".utf8).base64EncodedString()
        return try await Wire.post(
            server.base + "/introspect", [("token", token)], headers: [("Authorization", "Basic " + basic)]
        ).json["aud"] as? [String]
    }

    @Test(arguments: [
        "https://evil.example/", "resource", "", "/resource", "https://api.example/#fragment", "https://api.example/ x",
    ])
    func unknownResourceIsInvalidTarget(resource: String) async throws {
        try await withServer({ $0.resources = ["https://api.example/"] }) { server async throws in
            let client = Client(server)
            let login = try #require(server.issueGrant(user: "alice"))
            let reply = try await client.refresh(login.refreshToken ?? "", [("resource", resource)])
            // An empty parameter is none (RFC 6749 §3.1).
            #expect(reply.error == (resource.isEmpty ? nil : "invalid_target"))
            #expect(server.counters.rotated == (resource.isEmpty ? 1 : 0))
            if !resource.isEmpty {
                let redirect = try await client.authorize([("resource", resource)])
                #expect(redirect.redirectParameters["error"] == "invalid_target")
            }
        }
    }

    @Test func resourceThatWasNotAuthorizedIsInvalidTarget() async throws {
        try await withServer({ $0.resources = ["https://api.example/"] }) { server async throws in
            let client = Client(server)
            let code = try await client.code([("resource", "https://api.example/")])
            let other = server.base + "/resource"
            #expect(try await client.exchange(code, [("resource", other)]).error == "invalid_target")
            // Nothing was spent by asking.
            let reply = try await client.exchange(code)
            let token = try #require(try reply.string("refresh_token"))
            #expect(try await client.refresh(token, [("resource", other)]).error == "invalid_target")
            #expect(try await client.refresh(token, [("resource", "https://api.example/")]).status == 200)
        }
    }
}
