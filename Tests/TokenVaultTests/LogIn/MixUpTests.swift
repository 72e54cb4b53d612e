import Crypto
import OAuthClient
import Testing
import TokenVaultTesting

import TokenVault
import VaultStorage

/// A code goes to the server that gave it, and to no other (RFC 9700 §4.4).
struct MixUpTests {
    private func other(
        _ redirectURI: String = "https://app.example/callback", named: Bool = false
    ) throws -> ProviderRegistration {
        var registration = Sample.provider(name: "other")
        registration.redirectURI = try RedirectURI(redirectURI)
        registration.requiresIssuerInCallback = named
        return registration
    }

    private func naming() throws -> ProviderRegistration {
        var registration = Sample.provider()
        registration.requiresIssuerInCallback = true
        return registration
    }

    @Test(arguments: [
        "https://app.example/callback", "https://app.example:443/callback", "https://APP.example/callback",
        "https://app.example/callback?tenant=1",
    ])
    func twoServersDoNotShareARedirectURI(uri: String) async throws {
        let world = try await World()
        #expect(await code { try await world.vault.addProvider(try other(uri)) } == .invalidArgument)
        #expect(await code { try await world.vault.provider(named: "other") } == .unknownProvider)
    }

    @Test func withURIsOfTheirOwnTheyLiveSideBySide() async throws {
        for uri in ["https://app.example/callback/other", "https://other.example/callback"] {
            let world = try await World()
            try await world.vault.addProvider(try other(uri))
            #expect(try await world.vault.providersThatCanBeMixedUp().isEmpty)
            var change = ProviderChange()
            change.redirectURI = .set(try RedirectURI("https://app.example/callback"))
            let sharing = change
            #expect(
                await code { try await world.vault.updateProvider(named: "other", sharing) } == .invalidArgument)
            let begun = await code {
                try await world.users.beginLogIn(
                    LogInRequest(
                        userId: "alice", provider: "other", redirectURI: RedirectURI("https://app.example/callback")))
            }
            #expect(begun == .invalidArgument)
        }
    }

    @Test func serversThatNameThemselvesMayShareOne() async throws {
        let world = try await World(provider: try naming())
        #expect(await code { try await world.vault.addProvider(try other()) } == .invalidArgument)
        try await world.vault.addProvider(try other(named: true))
        #expect(try await world.vault.providersThatCanBeMixedUp().isEmpty)
    }

    /// Nothing was refused before, so a vault may have them: `doctor` asks.
    @Test func thoseThatShareOneAlreadyAreFound() async throws {
        let world = try await World()
        let store = world.vault.store
        var record = try await store.provider(named: Sample.provider().name).record
        (record.name, record.tokenEndpoint) = ("other", "https://other.example/token")
        _ = try await store.putProvider(record, replacing: nil)
        #expect(try await world.vault.providersThatCanBeMixedUp() == [[Sample.provider().name, "other"].sorted()])
        // What was shared before is no reason to refuse anything else.
        var change = ProviderChange()
        change.scope = .set(try Scope("read"))
        _ = try await world.vault.updateProvider(named: "other", change)
    }

    @Test func twoClientsOfOneServerMayShareOne() async throws {
        let world = try await World()
        var registration = Sample.provider(name: "other")
        registration.redirectURI = try RedirectURI("https://app.example/callback")
        registration.tokenEndpoint = try EndpointURL("https://acme.example/token")
        try await world.vault.addProvider(registration)
    }

    /// The code of the provider whose redirect URI that is must not go to this one.
    @Test(arguments: [
        ("https://app.example/callback/other", false), ("https://other.example/callback", false), ("/other", false),
        ("https://app.example/callback", true), ("http://app.example:8080/callback", true), ("/callback", true),
        ("", true),
    ])
    func aCallbackComesToItsOwnRedirectURI(at place: String, isTaken: Bool) async throws {
        let world = try await World()
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        if isTaken { world.transport.enqueue(.generation("1")) }
        let outcome = await code {
            try await world.users.completeLogIn(
                .url("\(place)?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
        }
        #expect(outcome == (isTaken ? nil : .protocolViolation))
        #expect(world.transport.requestCount == (isTaken ? 1 : 0))
    }

    @Test func stateAndCodeNeedTheNameThatWasPromised() async throws {
        let world = try await World(provider: try naming())
        let request = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        func complete(_ issuer: String?) async -> VaultError.Code? {
            await code {
                try await world.users.completeLogIn(
                    .parameters(state: request.state, code: AuthorizationCode("CANARY-code"), issuer: issuer),
                    boundTo: request.binding)
            }
        }
        #expect(await complete(nil) == .protocolViolation)
        world.transport.enqueue(.generation("1"))
        #expect(await complete("https://acme.example") == nil)
        let second = try await world.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        let forged = await code {
            try await world.users.completeLogIn(
                .parameters(
                    state: second.state, code: AuthorizationCode("CANARY-code"), issuer: "https://evil.example"),
                boundTo: second.binding)
        }
        #expect(forged == .protocolViolation && world.transport.requestCount == 1)
    }

    // MARK: Pending log-ins

    @Test func aFloodOfLogInsEndsTheOldestOfThatUserAlone() async throws {
        let world = try await World()
        let bobs = try await world.users.beginLogIn(LogInRequest(userId: "bob", provider: "acme"))
        var begun: [AuthorizationRequest] = []
        for _ in 0..<30 {
            begun.append(try await world.users.beginLogIn(LogInRequest(userId: "mallory", provider: "acme")))
        }
        world.transport.enqueue(.generation("1"), .generation("2"), .generation("3"))
        func complete(_ request: AuthorizationRequest) async -> VaultError.Code? {
            await code {
                try await world.users.completeLogIn(
                    .url("?code=CANARY-code&state=\(request.state)"), boundTo: request.binding)
            }
        }
        #expect(await complete(begun[9]) == .unknownAuthorizationRequest)
        #expect(await complete(begun[10]) == nil)
        #expect(await complete(begun[29]) == nil)
        #expect(await complete(bobs) == nil)
    }

    // MARK: Client assertions

    @Test func anAssertionIsForAnIssuer() async throws {
        let world = try await World()
        var registration = Sample.provider(name: "other")
        registration.authentication = .privateKeyJWT(
            try ClientAssertionKey(pem: P256.Signing.PrivateKey().pemRepresentation))
        registration.issuer = nil
        #expect(await code { try await world.vault.addProvider(registration) } == .invalidArgument)
    }
}
