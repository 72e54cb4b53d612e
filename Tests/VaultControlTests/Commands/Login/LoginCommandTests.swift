import DevAuthorizationServer
import Testing
import VaultControl

struct LoginCommandTests {
    @Test func aUserLogsInAndGetsATokenThatIsNotShown() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice", "--label", "phone")
            #expect(login.count == 26)
            let token = try await world.ok("token", "get", "--user", "alice", "--json").json
            #expect(token["login"] as? String == login)
            #expect(token["tokenType"] as? String == "Bearer")
            #expect(token["scope"] as? String == "read")
            #expect((token["expiresIn"] as? Int ?? 0) > 3_500)
            #expect(token["accessToken"] == nil)
            let text = try await world.ok("token", "get", login)
            #expect(text.output.contains("fingerprint\t\(token["fingerprint"] as? String ?? "?")\n"))
            #expect(world.refreshes == 0)
        }
    }

    @Test func revealPrintsTheTokenAndNothingElse() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            let revealed = try await world.ok("token", "get", "--user", "alice", "--reveal")
            #expect(revealed.line.contains(Harness.marker))
            #expect(!revealed.line.contains("\n"))
            let fingerprint = try await world.ok("token", "get", "--user", "alice", "--json").json["fingerprint"]
            #expect(fingerprint as? String == TokenFingerprint.of(revealed.line))
            let json = try await world.ok("token", "get", "--user", "alice", "--reveal", "--json").json
            #expect(json["accessToken"] as? String == revealed.line)
        }
    }

    @Test func getRenewsOnlyTheExpiredLogin() async throws {
        try await World.with { world in
            let first = try await world.logInExpired("bob")
            let second = try await world.logInExpired("bob")
            let token = try await world.ok("token", "get", first, "--json").json
            #expect(token["generation"] as? Int == 2)
            #expect(world.refreshes == 1)
            let other = try await world.ok("login", "show", second, "--json").json
            #expect(other["generation"] as? Int == 1)
            #expect(other["state"] as? String == "tokenExpired")
            #expect(try await world.ok("login", "show", second).output.contains("state\texpired\n"))
        }
    }

    @Test func aDeadLoginSendsNothingUntilANewTokenIsSet() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.revokeGrant(user: "alice")
            let dead = try await world.fails(.loginDead, "login", "refresh", login)
            #expect(dead.error.contains("hint: "))
            #expect(world.refreshes == 1)
            try await world.fails(.loginDead, "login", "refresh", login)
            #expect(world.refreshes == 1)
            let shown = try await world.ok("login", "show", login)
            #expect(shown.output.contains("state\tdead\n"))
            #expect(shown.output.contains("dead\tsince 20"))
            #expect(!shown.output.contains(" ago)"))
            #expect(shown.output.contains("the provider ended the grant"))
            #expect(shown.output.contains("vaultctl token update \(login)"))
            let file = try world.harness.file("token", Harness.marker + "new-token\n")
            try await world.ok("token", "update", login, "--access-token-file", file, "--expires-in", "1h")
            #expect(try await world.ok("login", "show", login, "--json").json["state"] as? String == "established")
            #expect(try await world.ok("token", "get", login, "--reveal").line == Harness.marker + "new-token")
            #expect(world.refreshes == 1)
        }
    }

    @Test func refreshRenewsNow() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let before = try await world.ok("token", "get", login, "--json").json["fingerprint"] as? String
            let after = try await world.ok("login", "refresh", login, "--json").json
            #expect(after["generation"] as? Int == 2)
            #expect(after["fingerprint"] as? String != before)
            #expect(world.refreshes == 1)
        }
    }

    @Test func aRefreshTokenThatWasRenewedIsNotTakenAgain() async throws {
        try await World.with { world in
            let grant = try #require(world.server.issueGrant(user: "alice"))
            let file = try world.harness.file("refresh", try #require(grant.refreshToken))
            let added = ["login", "add", "--user", "alice", "--provider", "acme", "--refresh-token-file", file]
            let id = try await world.ok(added).line
            try await world.ok("login", "refresh", id)
            let access = try world.harness.file("access", "x")
            for command in [
                ["token", "update", id, "--access-token-file", access],
                ["login", "add", "--user", "alice", "--provider", "acme", "--access-token-file", access],
            ] {
                let refused = try await world.fails(.usage, command + ["--refresh-token-file", file])
                #expect(refused.error.contains("the login \(id) of this user had this refresh token"))
            }
            try await world.ok("login", "refresh", id)
            #expect(world.refreshes == 2 && !world.server.grants.contains { $0.isRevoked })
        }
    }

    @Test func revokingEndsTheGrantAtTheServerToo() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            try await world.fails(.usage, "login", "revoke", login)
            let report = try await world.ok("login", "revoke", login, "--yes", "--json").json
            #expect(report["isComplete"] as? Bool == true)
            #expect(!world.server.grants.contains { !$0.isRevoked })
            try await world.fails(.notFound, "token", "get", login)
            try await world.ok("verify")
        }
    }

    @Test func aRevocationThatIsNotConfirmedExitsWithThree() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.faults.add(.status(503).for(path: "/revoke").times(10))
            let result = try await world.harness.run("login", "revoke", login, "--yes")
            #expect(result.status == 3)
            #expect(result.error.contains("not every provider has confirmed"))
            #expect(try await world.ok("status", "--json").json["pendingRevocations"] as? Int ?? 0 > 0)
            try await world.fails(.notFound, "token", "get", login)
        }
    }

    @Test func removingForgetsWithoutTellingTheServer() async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            let requests = world.server.log.records.count
            try await world.ok("login", "remove", login, "--yes")
            #expect(world.server.log.records.count == requests)
            #expect(!world.server.grants.contains { $0.isRevoked })
            try await world.fails(.notFound, "login", "show", login)
        }
    }

    @Test func severalLoginsAndNoneNamedListsThem() async throws {
        try await World.with { world in
            let first = try await world.logIn("bob", "--label", "desk")
            let second = try await world.logIn("bob")
            for command in [
                ["token", "get"], ["login", "show"], ["login", "refresh"], ["login", "revoke", "--yes"],
            ] {
                let result = try await world.harness.run(command + ["--user", "bob"])
                #expect(result.status == 1)
                #expect(result.error.contains("2 logins"))
                #expect(result.error.contains("hint: \(first)  acme, desk, established"))
                #expect(result.error.contains("hint: \(second)  acme, established"))
            }
        }
    }

    @Test func dpopBindsTheLoginToAKey() async throws {
        try await World.with { world in
            let login = try await world.logIn("carol", "--dpop")
            let token = try await world.ok("token", "get", login, "--json").json
            #expect(token["tokenType"] as? String == "DPoP")
            #expect(try await world.ok("login", "show", login, "--json").json["dpop"] as? Bool == true)
            try await world.ok("login", "refresh", login)
            #expect(world.server.log.tokenRequests().allSatisfy { $0.proofKey != nil })
        }
    }

    @Test func aLoginIsAddedFromTokensThatComeFromElsewhere() async throws {
        try await World.with { world in
            let grant = try #require(world.server.issueGrant(user: "dora", client: "demo"))
            let file = try world.harness.file("refresh", try #require(grant.refreshToken))
            let login = try await world.ok(
                [
                    "login", "add", "--user", "dora", "--provider", "acme", "--refresh-token-file", file,
                    "--access-token", "-", "--expires-in", "1h",
                ],
                input: grant.accessToken + "\r\n"
            ).line
            #expect(try await world.ok("token", "get", login, "--reveal").line == grant.accessToken)
            try await world.ok("login", "refresh", login)
            #expect(world.refreshes == 1)
        }
    }

    @Test func theStateAndTheCodeFinishALogInToo() async throws {
        try await World.with { world in
            let begun = try await world.ok("login", "begin", "--user", "eve", "--provider", "acme", "--json").json
            let callback = try await Browser.visit(try #require(begun["url"] as? String))
            let code = try #require(
                callback.split(separator: "?").last?.split(separator: "&")
                    .first { $0.hasPrefix("code=") }?.dropFirst(5))
            let state = try #require(begun["state"] as? String)
            // With an equals sign: it may begin with a hyphen.
            let parts = ["login", "complete", "--state=\(state)", "--code", "-"]
            // The server promises to name itself, so a callback without a name is none of its own.
            let unnamed = try await world.harness.run(parts, input: code + "\n")
            #expect(unnamed.status == ExitStatus.provider.rawValue && unnamed.error.contains("--iss"))
            try await world.ok(parts + ["--iss", world.server.issuer], input: code + "\n")
            try await world.ok("token", "get", "--user", "eve")
            let again = try await world.harness.run("login", "complete", "--callback-url", "-", input: callback)
            #expect(again.status == ExitStatus.notFound.rawValue && again.error.contains("vaultctl login begin"))
        }
    }

    @Test func aLogInThatRestoresATerminatedLoginSaysSo() async throws {
        try await World.with { world in
            let login = try await world.logIn("eve")
            try await world.ok("login", "terminate", login, "--reason", "globalBan", "--yes")
            let begun = try await world.ok("login", "begin", "--into", login)
            #expect(begun.error.contains("this login is terminated as globalBan, and the log-in restores it"))
        }
    }

    @Test(arguments: [["--callback-url", "URL"], ["--callback-url=URL"]])
    func aCodeIsNotTakenFromTheCommandLine(options: [String]) async throws {
        try await World.with { world in
            let url = try await world.ok("login", "begin", "--user", "eve", "--provider", "acme").line
            let callback = try await Browser.visit(url)
            let given = options.map { $0.replacing("URL", with: callback) }
            let refused = try await world.fails(.usage, ["login", "complete"] + given)
            #expect(refused.error.contains("--callback-url -") && !refused.error.contains("code="))
            try await world.complete(callback)
        }
    }

    @Test func aLogInWithoutAReplyHasEnded() async throws {
        try await World.with { world in
            let url = try await world.ok("login", "begin", "--user", "eve", "--provider", "acme").line
            let callback = try await Browser.visit(url)
            world.server.faults.add(.drop(afterActing: true))
            let arguments = ["login", "complete", "--callback-url", "-"]
            let lost = try await world.harness.run(arguments, input: callback)
            #expect(lost.status == ExitStatus.provider.rawValue)
            #expect(lost.error.contains("hint: begin the log-in again\n") && lost.error.contains("check the network"))
            let again = try await world.harness.run(arguments, input: callback)
            #expect(again.status == ExitStatus.notFound.rawValue)
        }
    }

    @Test func aRefusedLogInIsToldAsSuch() async throws {
        try await World.with { world in
            let begun = try await world.ok("login", "begin", "--user", "eve", "--provider", "acme", "--json").json
            let state = try #require(begun["state"] as? String)
            let result = try await world.fails(
                .provider, "login", "complete", "--callback-url",
                "\(World.redirectURI)?error=access_denied&error_description=%1B%5B2Jno&state=\(state)&iss=\(world.server.issuer)"
            )
            #expect(result.error.contains("hint: "))
            for url in ["", "nonsense", World.redirectURI, "\(World.redirectURI)?code=x"] {
                #expect(
                    [1, 2].contains(try await world.harness.run("login", "complete", "--callback-url", url).status))
            }
        }
    }
}
