import DevAuthorizationServer
import Testing
import VaultControl

/// `vaultctl outbox`, with a server that does not confirm at first.
struct OutboxCommandTests {
    private func withPending(_ body: (World, String) async throws -> Void) async throws {
        try await World.with { world in
            let login = try await world.logIn("alice")
            world.server.faults.add(.status(503).for(path: "/revoke").times(2))
            let result = try await world.harness.run("login", "revoke", login, "--yes")
            #expect(result.status == 3)
            try await body(world, login)
        }
    }

    @Test func whatIsPendingIsListedWithoutItsTokens() async throws {
        try await withPending { world, login in
            let list = try #require(
                try await world.ok("outbox", "list", "--json").json["revocations"] as? [[String: Any]])
            #expect(list.count == 1)
            #expect(list[0]["login"] as? String == login)
            #expect(list[0]["provider"] as? String == "acme")
            #expect(list[0]["token"] as? String == "refreshToken")
            #expect(list[0]["attempts"] as? Int == 1)
            #expect(try await world.ok("outbox", "list").output.contains("\trefreshToken\t"))
        }
    }

    @Test func retryingEndsTheGrantOnceTheServerIsBack() async throws {
        try await withPending { world, login in
            // Its time has not come.
            let tooEarly = try await world.harness.run("outbox", "retry", "--json")
            let early = try tooEarly.json
            #expect(tooEarly.status == 3 && early["isComplete"] as? Bool == false)
            #expect((early["revocations"] as? [Any])?.isEmpty == true)
            #expect(early["pendingRevocations"] as? Int == 1)
            let failed = try await world.harness.run("outbox", "retry", "--all", "--json")
            #expect(failed.status == 3)
            #expect(try failed.json["isComplete"] as? Bool == false)
            let list = try await world.ok("outbox", "list", "--json").json["revocations"] as? [[String: Any]]
            let id = try #require(list?.first?["revocation"] as? String)
            let done = try await world.ok("outbox", "retry", id, "--json").json
            let outcomes = done["revocations"] as? [[String: Any]]
            #expect(outcomes?.first?["outcome"] as? String == "revoked")
            #expect(outcomes?.first?["login"] as? String == login)
            #expect(done["pendingRevocations"] as? Int == 0)
            #expect(!world.server.grants.contains { !$0.isRevoked })
            try await world.fails(.notFound, "outbox", "retry", id)
            try await world.ok("verify")
        }
    }

    @Test func forceDoesNotHelpWhileThereAreLogins() async throws {
        try await withPending { world, _ in
            try await world.logIn("zed")
            let refused = try await world.fails(.usage, "provider", "remove", "acme", "--yes")
            #expect(refused.error.contains("vaultctl login end --provider acme"), "\(refused.error)")
            #expect(!refused.error.contains("--force"))
            let forced = try await world.fails(.usage, "provider", "remove", "acme", "--force", "--yes")
            #expect(!forced.error.contains("the grants stay valid"), "\(forced.error)")
        }
    }

    @Test func aProviderStaysWhileRevocationsWaitForIt() async throws {
        try await withPending { world, _ in
            let refused = try await world.fails(.usage, "provider", "remove", "acme", "--yes")
            #expect(refused.error.contains("1 pending revocation could no longer be sent"))
            let removed = try await world.ok("provider", "remove", "acme", "--force", "--yes")
            #expect(removed.error.contains("warning: 1 pending revocation could no longer be sent"))
            let reason = "1 revocation cannot be sent, because the provider was removed"
            let retried = try await world.harness.run("outbox", "retry", "--all")
            #expect(retried.status == 3 && retried.error.contains(reason))
            #expect(!retried.error.contains("not every provider"))
            #expect(try await world.ok("outbox", "list").error.contains(reason))
            #expect(try await world.harness.run("doctor").output.contains(reason))
        }
    }

    @Test func anEndpointStaysWhileRevocationsWaitForIt() async throws {
        try await withPending { world, _ in
            let update = ["provider", "update", "acme", "--yes"]
            let gone = try await world.fails(.usage, update + ["--remove", "revocation-endpoint"])
            #expect(gone.error.contains("error: 1 pending revocation could no longer be sent\n"), "\(gone.error)")
            #expect(gone.error.contains("hint: send the revocations first: vaultctl outbox retry --all"))
            let moved = try await world.fails(.usage, update + ["--revocation-endpoint", "https://l.example/revoke"])
            #expect(moved.error.contains("the tokens of 1 pending revocation would be sent to another server"))
            #expect(moved.error.contains("hint: send the revocations first: vaultctl outbox retry --all"))
            #expect(!moved.error.contains("as a new provider"))
        }
    }

    /// The order of a log-out and an erasure does not decide whether one is told.
    @Test func anErasureSaysWhatWasNotConfirmedBefore() async throws {
        try await withPending { world, _ in
            let reason = "1 revocation of logins that ended before is not confirmed"
            let plan = try await world.ok("user", "erase", "alice", "--dry-run", "--json").json
            #expect(plan["pendingRevocations"] as? Int == 1)
            let disabled = try await world.harness.run("user", "disable", "alice", "--yes")
            #expect(disabled.status == 3 && disabled.error.contains(reason), "\(disabled.error)")
            let erased = try await world.harness.run("user", "erase", "alice", "--yes", "--json")
            #expect(erased.status == 3 && erased.error.contains(reason), "\(erased.error)")
            #expect(try erased.json["isComplete"] as? Bool == false)
            let erasure = try erased.json["erasure"] as? [String: Any]
            #expect(erasure?["pendingRevocations"] as? Int == 1)
            // Those of others are none of this user's.
            try await world.logIn("bob")
            let other = try await world.ok("user", "erase", "bob", "--dry-run", "--json").json
            #expect(other["pendingRevocations"] as? Int == 0)
        }
    }

    @Test func nothingPendingIsAnEmptyListAndNoError() async throws {
        try await World.with { world in
            #expect((try await world.ok("outbox", "list", "--json").json["revocations"] as? [Any])?.isEmpty == true)
            try await world.ok("outbox", "retry", "--all")
            try await world.fails(.usage, "outbox", "retry", "non-sense")
            try await world.fails(.usage, "outbox", "retry", "--limit", "0")
        }
    }
}
