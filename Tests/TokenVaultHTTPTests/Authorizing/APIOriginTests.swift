import DevAuthorizationServer
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// A provider's tokens go where the provider's list of origins allows, at a real API and beside it.
struct APIOriginTests {
    private func allow(_ origins: [String], _ world: ResourceWorld) async throws {
        var change = ProviderChange()
        change.apiOrigins = try origins.map { try APIOrigin($0, allowsInsecureLoopback: true) }
        try await world.users.vault.changeProvider(named: "dev", change)
    }

    private func expectRefusal(_ body: () async throws -> Void) async {
        await #expect { try await body() } throws: { error in
            guard let error = error as? VaultError else { return false }
            // What would allow the address is not to be copied from here.
            return error.code == .originNotAllowed && error.hint?.contains("stranger") == true
                && error.hint?.contains("127.0.0.1") == false
        }
    }

    @Test func withoutAListTokensGoAnywhere() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            #expect(try await world.users.vault.provider(named: "dev").apiOrigins.isEmpty)
            #expect(try await world.client.send(world.request(), userId: "alice").head.status == .ok)
        }
    }

    @Test func aListedOriginIsServed() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn(key: .generate())
            try await allow(["https://api.acme.example", world.server.base], world)
            #expect(try await world.client.send(world.request(), userId: "alice").head.status == .ok)
            #expect(world.outcomes == ["ok"])
        }
    }

    /// Even where the caller wants a renewal.
    @Test func anotherOriginIsRefusedBeforeATokenIsRenewed() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            try await allow(["https://api.acme.example"], world)
            await expectRefusal {
                _ = try await world.client.send(world.request(), for: .login(login.id), .renewed)
            }
            #expect(world.renewals == 0)
            #expect(world.outcomes.isEmpty)
        }
    }

    @Test func aTokenAtHandIsRefusedToo() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let token = try await world.users.accessToken(for: .login(login.id))
            try await allow(["https://api.acme.example"], world)
            await expectRefusal { _ = try await world.users.authorize(world.request(), with: token) }
        }
    }

    /// The manager that sends is not the one that was told.
    @Test func aChangeHoldsAtOnceInEveryManager() async throws {
        try await ResourceWorld.with { world in
            try await world.logIn()
            #expect(try await world.client.send(world.request(), userId: "alice").head.status == .ok)
            let vault = try await world.temporary.openAgain()
            var change = ProviderChange()
            change.addedAPIOrigins = [try APIOrigin("https://api.acme.example")]
            try await vault.changeProvider(named: "dev", change)
            await expectRefusal { _ = try await world.client.send(world.request(), userId: "alice") }
            change.addedAPIOrigins = [try APIOrigin(world.server.base, allowsInsecureLoopback: true)]
            try await vault.changeProvider(named: "dev", change)
            #expect(try await world.client.send(world.request(), userId: "alice").head.status == .ok)
            await vault.close()
        }
    }

    /// The refusal of the API makes a repeat, which is checked like the first request.
    @Test func aRepeatIsChecked() async throws {
        try await ResourceWorld.with { world in
            let login = try await world.logIn()
            let authorized = try await world.users.authorize(world.request(), for: .login(login.id))
            try await allow(["https://api.acme.example"], world)
            try await world.users.reportRejected(try #require(authorized.token))
            await expectRefusal { _ = try await authorized.again() }
            await expectRefusal { _ = try await world.users.authorize(world.request(), for: .login(login.id)) }
        }
    }

    @Test func clientTokensAreNotFetchedForAnotherOrigin() async throws {
        try await ResourceWorld.with { world in
            try await allow(["https://api.acme.example"], world)
            let requests = world.server.log.records.count
            await expectRefusal { _ = try await world.client.send(world.request(), asClientOf: "dev") }
            #expect(world.server.log.records.count == requests)
        }
    }

    @Test func theLastOriginIsRemovedOnlyWithTheList() async throws {
        try await ResourceWorld.with { world in
            let (vault, one) = (world.users.vault, try APIOrigin("https://api.acme.example"))
            try await allow([one.rawValue, one.rawValue], world)
            #expect(try await vault.provider(named: "dev").apiOrigins == [one])
            var change = ProviderChange()
            change.removedAPIOrigins = [one]
            await #expect { try await vault.changeProvider(named: "dev", change) } throws: { error in
                (error as? VaultError)?.code == .invalidArgument
            }
            #expect(try await vault.provider(named: "dev").apiOrigins == [one])
            let update = try await vault.changeProvider(named: "dev", ProviderChange(apiOrigins: []))
            #expect(update.changes.map(\.field) == ["apiOrigins"])
            #expect(update.changes.map(\.previous) == ["https://api.acme.example"])
            #expect(try await vault.provider(named: "dev").apiOrigins.isEmpty)
        }
    }
}

extension ProviderChange {
    fileprivate init(apiOrigins: [APIOrigin]) {
        self.init()
        self.apiOrigins = apiOrigins
    }
}
