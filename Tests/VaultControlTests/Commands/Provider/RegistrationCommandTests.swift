import DevAuthorizationServer
import Foundation
import Testing
import VaultControl

/// `vaultctl provider register` and `provider registration`
struct RegistrationCommandTests {
    @Test func aClientRegistersItselfIsChangedAndDeleted() async throws {
        try await World.with {
            $0.registration = RegistrationPolicy(initialAccessToken: "CANARY-initial", rotatesTokens: true)
        } _: { world in
            let register = [
                "provider", "register", "self", "--issuer", world.server.issuer, "--redirect-uri", World.redirectURI,
                "--client-name", "App", "--scope", "read", "--allow-insecure-loopback",
            ]
            let refused = try await world.fails(.provider, register)
            #expect(refused.error.contains("initial access token"))
            let token = try world.harness.file("initial", "CANARY-initial")
            let added = try await world.ok(register + ["--initial-access-token-file", token, "--json"]).json
            let id = try #require(added["clientId"] as? String)
            #expect(added["isRegistrationManaged"] as? Bool == true)
            let url = try await world.ok("login", "begin", "--user", "alice", "--provider", "self").line
            try await world.complete(Browser.visit(url))
            try await world.ok("login", "refresh", "--user", "alice")
            let shown = try await world.ok("provider", "registration", "show", "self", "--json").json
            #expect(shown["clientId"] as? String == id)
            #expect(shown["redirectUris"] as? [String] == [World.redirectURI])
            try await world.ok("provider", "registration", "update", "self", "--client-name", "Other")
            let changed = try await world.ok("provider", "registration", "show", "self", "--json").json
            #expect(changed["clientName"] as? String == "Other")
            let inUse = try await world.fails(.usage, "provider", "registration", "delete", "self", "--yes")
            #expect(inUse.error.contains("1 login would be lost"))
            try await world.ok("provider", "registration", "delete", "self", "--yes", "--force")
            try await world.fails(.usage, "provider", "registration", "show", "self")
            try await world.ok("verify")
            let audit = try await world.ok("audit", "list", "--kind", "clientRegistrationDeleted", "--json")
            #expect(audit.output.contains(id))
        }
    }

    @Test func aRemovedProviderNamesTheClientThatIsLeft() async throws {
        try await World.with {
            $0.registration = RegistrationPolicy()
        } _: { world in
            let added = try await world.ok(
                "provider", "register", "self", "--issuer", world.server.issuer, "--redirect-uri", World.redirectURI,
                "--allow-insecure-loopback", "--json")
            let id = try #require(try added.json["clientId"] as? String)
            let asked = try await world.fails(.usage, "provider", "remove", "self")
            #expect(asked.error.contains("hint: delete the registration first: vaultctl provider registration delete"))
            let removed = try await world.ok("provider", "remove", "self", "--yes")
            #expect(removed.error.contains("warning: the client \(id) stays registered at \(world.server.issuer)"))
            #expect(!removed.error.contains("registration delete"))
        }
    }

    @Test func aTenantRegistersAClientOfItsOwn() async throws {
        try await World.with {
            $0.registration = RegistrationPolicy()
        } _: { world in
            let tenant = ["--tenant", "contoso"]
            let register = [
                "provider", "register", "acme", "--issuer", world.server.issuer, "--redirect-uri", World.redirectURI,
                "--scope", "read", "--allow-insecure-loopback",
            ]
            // The vault's own provider of this name is another one.
            try await world.fails(.usage, register)
            let added = try await world.ok(register + tenant)
            #expect(added.output.hasPrefix("name\tacme\ntenant\tcontoso\n"))
            try await world.fails(.usage, register + tenant)
            let url = try await world.ok(["login", "begin", "--user", "alice", "--provider", "acme"] + tenant).line
            try await world.complete(Browser.visit(url))
            try await world.ok(["login", "refresh", "--user", "alice"] + tenant)
            #expect(
                try await world.ok(["provider", "registration", "show", "acme", "--json"] + tenant).json["clientId"]
                    as? String != "demo")
            let rows = try await world.ok(
                ["audit", "list", "--kind", "clientRegistered", "--provider", "acme", "--json"] + tenant)
            #expect(rows.output.contains("clientRegistered"))
        }
    }

    @Test func aLostReplyIsTold() async throws {
        try await World.with {
            $0.registration = RegistrationPolicy()
        } _: { world in
            var fault = Fault.drop(afterActing: true)
            fault.path = "/register"
            world.server.faults.add(fault)
            let result = try await world.harness.run(
                "provider", "register", "self", "--issuer", world.server.issuer, "--redirect-uri", World.redirectURI,
                "--allow-insecure-loopback")
            #expect(result.status != 0)
            #expect(result.error.contains("may have registered a client"))
            #expect(result.error.contains("hint: look for it in the provider's console"))
            #expect(try await world.harness.run("provider", "show", "self").status == 2)
        }
    }
}
