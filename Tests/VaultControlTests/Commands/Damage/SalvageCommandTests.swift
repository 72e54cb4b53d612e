import EngineSupport
import DevAuthorizationServer
import Testing
import VaultControl

/// `vaultctl login salvage`, with a server whose reply breaks off.
@Suite(.tags(.everyEngine))
struct SalvageCommandTests {
    private func withCutReply(_ body: (World, _ login: String, _ reply: String) async throws -> Void) async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let profile = try world.harness.file(
                "careful.json",
                """
                {"profile":1,"name":"careful","source":[{"url":"u","read":"2026-01-31"}],\
                "refresh":{"rotation":"always","replay":"never"}}
                """)
            try await world.ok("provider", "update", "acme", "--profile-file", profile, "--yes")
            // {"access_token":"…","expires_in":3600,"refresh_token":"rt_…","scope":"read","token_type":"Bearer"}: in the scope.
            let access = try await world.ok("token", "get", login, "--reveal").line.count
            world.server.faults.add(.cutBody(after: 120 + access + Harness.marker.count).times(1))
            let failed = try await world.harness.run("login", "refresh", login)
            #expect(failed.status == 9 && failed.error.contains("closed in the middle of the reply"), "\(failed.error)")
            #expect(failed.error.contains("could not be used is kept: vaultctl login salvage \(login)"))
            let list = try #require(
                try await world.ok("login", "salvage", login, "--json").json["replies"] as? [[String: Any]])
            #expect(list.count == 1)
            #expect(list[0]["status"] as? Int == 200)
            #expect(list[0]["complete"] as? Bool == false)
            #expect(list[0]["refreshTokens"] as? Int == 1)
            #expect(list[0]["current"] as? Bool == true)
            try await body(world, login, try #require(list[0]["reply"] as? String))
        }
    }

    @Test func theTokenOfAReplyThatBrokeOffIsTaken() async throws {
        try await withCutReply { world, login, reply in
            let table = try await world.ok("login", "salvage", login)
            #expect(table.output.hasPrefix("\(reply)\t20"))
            let document = try await world.ok("login", "salvage", login, "--json").json
            #expect((document["replies"] as? [[String: Any]])?.first?["complete"] as? Bool == false)
            try await world.fails(.usage, "login", "salvage", login, "--use", reply)
            try await world.ok("login", "salvage", login, "--use", reply, "--yes")
            try await world.ok("login", "refresh", login)
            #expect(try await world.ok("login", "salvage", login).output.isEmpty)
            try await world.fails(.notFound, "login", "salvage", login, "--use", reply, "--yes")
            #expect(!world.server.grants.contains { $0.isRevoked || $0.reuseDetected > 0 })
            try await world.ok("verify")
        }
    }

    @Test func nothingIsSaidToBeKeptOfAnEmptyReply() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.faults.add(.status(200).times(4))
            let failed = try await world.harness.run("login", "refresh", login)
            #expect(failed.status == 9 && failed.error.contains("200: an empty reply"), "\(failed.error)")
            #expect(!failed.error.contains("login salvage"))
        }
    }

    @Test func theBodyIsPrintedWhereItIsAskedFor() async throws {
        try await withCutReply { world, login, reply in
            let body = try await world.ok("login", "salvage", login, "--reveal", reply).output
            #expect(body.contains("refresh_token"))
            try await world.fails(.usage, "login", "salvage", login, "--reveal", reply, "--use", reply)
            try await world.fails(.usage, "login", "salvage", login, "--reveal", "non-sense")
        }
    }
}
