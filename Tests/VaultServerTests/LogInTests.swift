import FoundationEssentials
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting
import VaultServer

struct LogInTests {
    @Test func aUserLogsInAndOut() async throws {
        let world = try await World()
        try await world.serve { client in
            let begun = try await client.post(
                "/v1/logins/begin",
                #"{"user":"alice","provider":"acme","redirect_uri":"https://app.example/callback","context":{"to":"/x"}}"#
            )
            #expect(begun.status == 200)
            let (state, binding) = (try #require(begun["state"]), try #require(begun["binding"]))
            let url = "https://app.example/callback?code=c1&state=\(state)"
            let other = try await client.post(
                "/v1/logins/complete", #"{"url":"\#(url)","binding":"\#(binding)","user":"bob"}"#)
            #expect(other["code"] == "logInNotBound")
            let done = try await client.post(
                "/v1/logins/complete", #"{"url":"\#(url)","binding":"\#(binding)","user":"alice"}"#)
            #expect(done.status == 200)
            guard case .object(let login)? = done.object?["login"], case .string(let id)? = login["id"],
                case .object(let context)? = done.object?["context"], case .string("/x")? = context["to"]
            else { throw Unexpected() }
            let list = try await client.send("GET", "/v1/logins?user=alice")
            #expect(list.text.contains(id))
            let out = try await client.send("DELETE", "/v1/logins/\(id)")
            #expect(out.status == 200)
            try await #expect(client.send("DELETE", "/v1/logins/\(id)").status == 404)
            try await #expect(client.send("GET", "/v1/logins?user=alice").text.contains("\"logins\":[]"))
        }
    }

    private struct Unexpected: Error {}

    @Test func aLoginOfAnotherUserIsLikeNone() async throws {
        let world = try await World(
            """
            verbs = ["logins", "logIn", "logOut", "token"]
            users = ["alice"]
            providers = ["acme"]
            """)
        let login = try await world.addLogin("bob")
        try await world.serve { client in
            try await #expect(client.send("DELETE", "/v1/logins/\(login.id)")["code"] == "unknownLogin")
            try await #expect(client.post("/v1/token", #"{"login":"\#(login.id)"}"#)["code"] == "unknownLogin")
            try await #expect(client.post("/v1/logins/begin", #"{"login":"\#(login.id)"}"#)["code"] == "unknownLogin")
            try await #expect(client.send("GET", "/v1/logins?user=bob")["code"] == "notAllowed")
        }
    }

    @Test func aTenantIsNamedAndAllowed() async throws {
        let world = try await World(
            """
            verbs = ["token", "logins"]
            users = ["*"]
            providers = ["acme"]
            tenants = ["contoso"]
            """)
        let tenant = try #require(Tenant("contoso"))
        try await world.temporary.vault.addProvider(Sample.provider(name: "acme"), of: tenant)
        _ = try await world.users.scoped(to: tenant).addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("contoso"),
            expiresAt: world.time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken("contoso"))
        let plain = try await world.addLogin()
        try await world.serve { client in
            let answer = try await client.post("/v1/token", #"{"user":"alice","tenant":"contoso"}"#)
            #expect(answer["access_token"] == Sample.accessToken("contoso").reveal())
            try await #expect(client.post("/v1/token", #"{"user":"alice"}"#)["code"] == "notAllowed")
            try await #expect(
                client.post("/v1/token", #"{"login":"\#(plain.id)","tenant":"contoso"}"#)["code"]
                    == "unknownLogin")
            try await #expect(
                client.send("GET", "/v1/logins?user=alice&tenant=contoso").text.contains("\"user\":\"alice\""))
        }
    }
}
