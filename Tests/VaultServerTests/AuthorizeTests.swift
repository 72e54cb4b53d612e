import FoundationEssentials
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultServer

struct AuthorizeTests {
    @Test func aRequestGetsItsHeaderFields() async throws {
        let world = try await World()
        _ = try await world.addLogin()
        try await world.serve { client in
            let answer = try await client.post(
                "/v1/authorize", #"{"user":"alice","method":"GET","url":"https://api.example/me?x=1"}"#)
            #expect(answer.status == 200)
            guard case .object(let headers)? = answer.object?["headers"] else { throw NoHeaders() }
            #expect(headers.names == ["Authorization"])
        }
    }

    private struct NoHeaders: Error {}

    @Test func aBoundTokenLeavesOnlyWithAProof() async throws {
        let world = try await World(provider: Sample.provider(name: "acme", dpop: .required))
        world.transport.fallback = .freshTokens(tokenType: "DPoP")
        let login = try await world.logIn()
        try await world.serve { client in
            try await #expect(client.post("/v1/token", #"{"login":"\#(login.id)"}"#)["code"] == "boundToken")
            let answer = try await client.post(
                "/v1/authorize",
                #"{"login":"\#(login.id)","method":"GET","url":"https://api.example/me","nonce":"n-1"}"#)
            guard case .object(let headers)? = answer.object?["headers"],
                case .string(let proof)? = headers["DPoP"]
            else { throw NoHeaders() }
            let claims = try #require(Base64URL.decode(proof.split(separator: ".")[1]))
            let object = try JSONObject(document: Array(claims))
            guard case .string("n-1")? = object["nonce"], case .string("https://api.example/me")? = object["htu"]
            else { throw NoHeaders() }
        }
    }

    @Test(arguments: [
        (#""method":"POST","url":"https://api.example/me""#, 403, "notAllowed"),
        (#""method":"GET","url":"https://other.example/me""#, 403, "notAllowed"),
        (#""method":"GET","url":"https://api.example.evil.example/""#, 403, "notAllowed"),
        (#""method":"GET","url":"https://api.example@evil.example/""#, 400, "invalidArgument"),
        (#""method":"GET","url":"http://api.example/""#, 400, "invalidArgument"),
        (#""method":"GET","url":"/me""#, 400, "invalidArgument"),
        (#""method":"G T","url":"https://api.example/""#, 400, "invalidArgument"),
        (#""url":"https://api.example/""#, 400, "invalidArgument"),
    ])
    func whereNoTokenMayGoNoneIsFetched(rest: String, status: Int, code: String) async throws {
        let world = try await World(
            """
            verbs = ["authorize"]
            users = ["*"]
            providers = ["*"]
            origins = ["https://api.example"]
            methods = ["GET"]
            """)
        _ = try await world.addLogin()
        world.time.advance(by: .seconds(3_599))
        try await world.serve { client in
            let answer = try await client.post("/v1/authorize", #"{"user":"alice","# + rest + "}")
            #expect(answer.status == status)
            #expect(answer["code"] == code)
            #expect(world.transport.requests.isEmpty)
        }
    }

    @Test func aReplySaysWhatToDo() async throws {
        let world = try await World()
        let login = try await world.addLogin()
        @Sendable func report(_ client: Client, _ status: Int, _ challenge: String) async throws -> Client.Answer {
            try await client.post(
                "/v1/result",
                #"{"login":"\#(login.id)","generation":1,"method":"GET","url":"https://api.example/","status":\#(status),"#
                    + #""headers":{"WWW-Authenticate":\#(JSONText.quote(challenge))}}"#)
        }
        try await world.serve { client in
            try await #expect(report(client, 200, "Bearer")["outcome"] == "final")
            let scope = try await report(client, 403, #"Bearer error="insufficient_scope", scope="write""#)
            #expect(scope["outcome"] == "needsScope")
            #expect(scope["scope"] == "write")
            #expect(world.transport.requests.isEmpty)
            try await #expect(report(client, 401, #"Bearer error="invalid_token""#)["outcome"] == "retry")
            // A second report of the same token meets the new one.
            try await #expect(report(client, 401, #"Bearer error="invalid_token""#)["outcome"] == "retry")
            #expect(world.transport.requests.count == 1)
            try await #expect(
                report(client, 401, #"Bearer error="insufficient_user_authentication""#)["outcome"] == "needsLogIn")
        }
    }
}
