import AsyncHTTPClient
import FoundationEssentials
import NIOHTTP1
import OAuthClient
import Platform
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultServer
import VaultStorage

struct RequestTests {
    private static let narrow = """
        verbs = ["token", "authorize", "logins"]
        users = ["alice", "app-*"]
        providers = ["acme"]
        origins = ["https://api.example"]
        methods = ["GET"]
        """

    @Test func aTokenIsGivenWithItsFacts() async throws {
        let world = try await World(Self.narrow)
        let login = try await world.addLogin(scope: "read")
        try await world.serve { client in
            let answer = try await client.post("/v1/token", #"{"user":"alice"}"#)
            #expect(answer.status == 200)
            #expect(answer["access_token"] == Sample.accessToken("alice").reveal())
            #expect(answer["token_type"] == "Bearer")
            #expect(answer["scope"] == "read")
            #expect(answer["login"] == login.id.description)
            #expect(answer["generation"] == "1")
            #expect(answer["expires_at"] == String(Int(world.time.now().timeIntervalSince1970) + 3_600))
            #expect(answer.headers["Cache-Control"] == ["no-store"])
            let again = try await client.post("/v1/token", #"{"login":"\#(login.id)"}"#)
            #expect(again["access_token"] == answer["access_token"])
        }
    }

    @Test func oneRenewalServesEverybody() async throws {
        let world = try await World(Self.narrow)
        _ = try await world.addLogin()
        world.time.advance(by: .seconds(3_599))
        try await world.serve { client in
            let answers = try await withThrowingTaskGroup { group in
                for _ in 0..<100 { group.addTask { try await client.post("/v1/token", #"{"user":"alice"}"#) } }
                var answers: [Client.Answer] = []
                for try await answer in group { answers.append(answer) }
                return answers
            }
            #expect(answers.allSatisfy { $0.status == 200 && $0["generation"] == "2" })
            #expect(world.transport.requests.count == 1)
        }
    }

    @Test(arguments: [
        (#"{"user":"bob"}"#, 403, "notAllowed"),
        (#"{"user":"app"}"#, 403, "notAllowed"),
        (#"{"user":"alice","provider":"other"}"#, 403, "notAllowed"),
        (#"{"user":"alice","tenant":"contoso"}"#, 403, "notAllowed"),
        (#"{"user":"alice","scope":"read"}"#, 403, "notAllowed"),
        (#"{"user":"alice","resource":"https://api.example"}"#, 403, "notAllowed"),
        (#"{"login":"aaaaaaaaaaaaaaaaaaaaaaaaaa"}"#, 404, "unknownLogin"),
        (#"{"login":"x"}"#, 404, "unknownLogin"),
        (#"{"user":"app-1"}"#, 409, "unknownUser"),
        (#"{}"#, 400, "invalidArgument"),
        (#"{"user":"alice","login":"x"}"#, 400, "invalidArgument"),
        (#"{"user":""}"#, 400, "invalidArgument"),
        (#"{"user":7}"#, 400, "invalidArgument"),
        (#"{"user":"alice","user":"bob"}"#, 400, "invalidArgument"),
        (#"{"usr":"alice"}"#, 400, "invalidArgument"),
        (#"{"user":"alice","deadline":-1}"#, 400, "invalidArgument"),
        (#"{"user":"alice","deadline":301}"#, 400, "invalidArgument"),
        (#"{"user":"alice","deadline":"1s"}"#, 400, "invalidArgument"),
        (#"{"user":"alice","tenant":"a b"}"#, 400, "invalidArgument"),
        (#"["alice"]"#, 400, "invalidArgument"),
        (#"{"user":"alice""#, 400, "invalidArgument"),
        ("", 400, "invalidArgument"),
    ])
    func aWrongRequestIsAnsweredClearly(body: String, status: Int, code: String) async throws {
        let world = try await World(Self.narrow)
        try await world.temporary.vault.addProvider(Sample.provider(name: "other"))
        _ = try await world.addLogin()
        try await world.serve { client in
            let answer = try await client.post("/v1/token", body)
            #expect(answer.status == status)
            #expect(answer["code"] == code)
            #expect(answer.headers["Content-Type"] == ["application/problem+json"])
            #expect(answer["title"]?.isEmpty == false)
        }
    }

    @Test func whatIsNotKnownIsNamed() async throws {
        let world = try await World(Self.narrow)
        try await world.serve { client in
            let member = try await client.post("/v1/token", #"{"user":"alice","min_validity":60}"#)
            #expect(member["detail"] == "the body has a member that is not known here: min_validity")
            let method = try await client.send("GET", "/v1/token")
            #expect(method["detail"] == "the methods of this path are: POST")
        }
    }

    @Test func whatComesFromABrowserIsRefused() async throws {
        let world = try await World(Self.narrow)
        _ = try await world.addLogin()
        let body = #"{"user":"alice"}"#
        try await world.serve { client in
            let page = try await client.send("POST", "/v1/token", body, [("Origin", "https://evil.example")])
            #expect(page["code"] == "fromBrowser")
            try await #expect(client.send("POST", "/v1/token", body, [("Content-Type", "text/plain")]).status == 415)
            var request = client.request("GET", "/healthz")
            request.headers.replaceOrAdd(name: "Host", value: "evil.example")
            try await #expect(client.answer(to: request)["code"] == "wrongHost")
        }
    }

    @Test func onlyWhoIsInThePolicyIsAnswered() async throws {
        let world = try await World(Self.narrow)
        _ = try await world.addLogin()
        try await world.serve { client in
            try await #expect(client.post("/v1/token", #"{"user":"alice"}"#).status == 200)
            world.server.replacePolicy(
                try ServePolicy(
                    """
                    [[client]]
                    name = "other"
                    uid = \(UserID.current.number + 1)
                    verbs = ["*"]
                    users = ["*"]
                    providers = ["*"]
                    origins = ["*"]
                    methods = ["*"]
                    """))
            for path in ["/healthz", "/v1/openapi.json", "/nothing"] {
                let answer = try await client.send("GET", path)
                #expect(answer.status == 403)
                #expect(answer["code"] == "unknownClient")
            }
            try await #expect(client.post("/v1/token", #"{"user":"alice"}"#)["code"] == "unknownClient")
        }
    }

    @Test func aTokenWithMoreThanTheScopesIsKept() async throws {
        let world = try await World(Self.narrow + "\nscopes = [\"read\"]")
        let login = try await world.addLogin(scope: "read write")
        _ = try await world.addLogin("app-1")
        try await world.serve { client in
            try await #expect(client.post("/v1/token", #"{"user":"alice"}"#)["code"] == "notAllowed")
            try await #expect(client.post("/v1/token", #"{"login":"\#(login.id)"}"#)["code"] == "notAllowed")
            try await #expect(client.post("/v1/token", #"{"user":"app-1"}"#)["code"] == "notAllowed")
            try await #expect(client.post("/v1/token", #"{"user":"alice","scope":"write"}"#)["code"] == "notAllowed")
        }
    }

    @Test func theTrailHasTheFirstTokenOfEachGeneration() async throws {
        let world = try await World(Self.narrow)
        _ = try await world.addLogin()
        try await world.serve { client in
            for _ in 0..<3 { _ = try await client.post("/v1/token", #"{"user":"alice"}"#) }
            world.time.advance(by: .seconds(3_599))
            for _ in 0..<3 { try await #expect(client.post("/v1/token", #"{"user":"alice"}"#)["generation"] == "2") }
        }
        var filter = AuditFilter()
        filter.kinds = [.tokenHandedOut]
        let rows = try await world.temporary.vault.store.audit(filter, .after(0), limit: 10).rows
        #expect(rows.map { $0.entry.detail.first { $0.key == "generation" }?.value } == ["1", "2"])
        #expect(rows.allSatisfy { $0.entry.detail.contains(.init("client", "web")) })
    }

    @Test func pathsAndMethodsAreChecked() async throws {
        let world = try await World(Self.narrow)
        try await world.serve { client in
            try await #expect(client.send("GET", "/v1/nothing").status == 404)
            let answer = try await client.send("GET", "/v1/token")
            #expect(answer.status == 405)
            #expect(answer.headers["Allow"] == ["POST"])
            try await #expect(client.send("GET", "/v1/logins?user=alice&colour=red").status == 400)
            try await #expect(client.send("GET", "/metrics")["code"] == "notAllowed")
            try await #expect(client.send("GET", "/v1/events")["code"] == "notAllowed")
            try await #expect(client.send("DELETE", "/v1/logins/x")["code"] == "notAllowed")
        }
    }
}
