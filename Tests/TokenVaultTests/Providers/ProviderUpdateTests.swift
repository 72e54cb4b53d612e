import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Changing a provider while logins hang on it.
@Suite(.tags(.everyEngine))
struct ProviderUpdateTests {
    private func change(_ body: (inout ProviderChange) throws -> Void) rethrows -> ProviderChange {
        var change = ProviderChange()
        try body(&change)
        return change
    }

    @Test func whatChangedIsToldBeforeAndAfter() async throws {
        let world = try await World()
        let update = try await world.vault.changeProvider(
            named: "acme",
            change {
                $0.authorizationEndpoint = try .set(EndpointURL("https://acme.example/v2/authorize"))
                $0.scope = .remove
                $0.dpop = .required
            })
        #expect(update.previous.authorizationEndpoint?.rawValue == "https://acme.example/authorize")
        #expect(update.current.authorizationEndpoint?.rawValue == "https://acme.example/v2/authorize")
        await #expect(try world.vault.provider(named: "acme") == update.current)
        #expect(
            update.changes == [
                .init(
                    field: "authorizationEndpoint", previous: "https://acme.example/authorize",
                    current: "https://acme.example/v2/authorize"),
                .init(field: "scope", previous: "read write", current: nil),
                .init(field: "dpop", previous: "optional", current: "required"),
            ])
        #expect(update.orphanedLogins == 0)
        let told = try await #require(
            world.vault.store.auditEntries(after: 0, limit: 100).last { $0.kind == .providerUpdated })
        #expect(told.detail.contains(.init("previousAuthorizationEndpoint", "https://acme.example/authorize")))
        #expect(told.detail.contains(.init("authorizationEndpoint", "https://acme.example/v2/authorize")))
        #expect(told.detail.contains(.init("scope", "none")))
    }

    @Test func nothingChangedIsNoNews() async throws {
        let world = try await World()
        let before = try await world.vault.store.provider(named: "acme")
        let update = try await world.vault.changeProvider(
            named: "acme", change { $0.tokenEndpoint = try EndpointURL("https://acme.example/token") })
        #expect(update.changes.isEmpty)
        #expect(try await world.vault.store.provider(named: "acme").revision == before.revision)
        #expect(
            try await world.vault.store.auditEntries(after: 0, limit: 100).allSatisfy { $0.kind != .providerUpdated })
    }

    @Test func aPreviewTellsTheSameAndWritesNothing() async throws {
        let world = try await World()
        try await world.addChain()
        let before = try await world.vault.store.provider(named: "acme")
        let wanted = try change { $0.clientID = try ClientID("client-2") }
        let preview = try await world.vault.previewProviderUpdate(named: "acme", wanted)
        #expect(preview.changes == [.init(field: "clientId", previous: "client-1", current: "client-2")])
        #expect(preview.orphanedLogins == 1)
        #expect(try await world.vault.store.provider(named: "acme") == before)
        #expect(
            try await world.vault.store.auditEntries(after: 0, limit: 100).allSatisfy { $0.kind != .providerUpdated })
        let update = try await world.vault.changeProvider(named: "acme", wanted, force: true, expecting: preview)
        #expect(update == preview)
    }

    @Test func whatWasAgreedToIsDoneOrNothing() async throws {
        let world = try await World()
        let wanted = try change { $0.scope = try .set(Scope("read")) }
        let preview = try await world.vault.previewProviderUpdate(named: "acme", wanted)
        try await world.vault.changeProvider(named: "acme", change { $0.scope = try .set(Scope("admin")) })
        let error = await #expect(throws: VaultError.self) {
            try await world.vault.changeProvider(named: "acme", wanted, expecting: preview)
        }
        #expect(error?.code == .conflict)
        await #expect(try world.vault.provider(named: "acme").scope?.description == "admin")
    }

    @Test func secretsAreNeitherToldNorWrittenDown() async throws {
        let world = try await World()
        let update = try await world.vault.changeProvider(
            named: "acme",
            change {
                $0.authentication = .clientSecretBasic(try ClientSecret("CANARY-secret-2"))
                $0.alternativeSecrets = [try ClientSecret("CANARY-secret-1")]
            })
        #expect(update.changes == [.init(field: "clientSecrets", previous: nil, current: nil)])
        #expect(update.current.clientSecretCount == 2)
        let entries = try await world.vault.store.auditEntries(after: 0, limit: 100)
        #expect(!"\(entries) \(update)".contains("CANARY"))
        #expect(entries.last?.detail.contains(.init("clientSecrets", "changed")) == true)
    }

    static let orphaning: [@Sendable (inout ProviderChange) throws -> Void] = [
        { $0.issuer = try .set(Issuer("https://other.example")) },
        { $0.clientID = try ClientID("client-2") },
        { $0.tokenEndpoint = try EndpointURL("https://other.example/token") },
        { $0.issuer = .remove },
        // The issuer no longer vouches for the new place.
        {
            $0.issuer = .remove
            $0.tokenEndpoint = try EndpointURL("https://acme.example/v2/token")
        },
        { $0.profile = .document(Array(Self.refreshesElsewhere.utf8)) },
    ]

    private static let refreshesElsewhere = """
        {"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],\
        "endpoints":{"refresh":"https://other.example/refresh"}}
        """

    @Test(arguments: orphaning.indices)
    func loginsAreNotCutOffFromTheirServer(_ index: Int) async throws {
        let world = try await World()
        try await world.addChain()
        let wanted = try change(Self.orphaning[index])
        let error = await #expect(throws: VaultError.self) {
            try await world.vault.changeProvider(named: "acme", wanted)
        }
        #expect(error?.code == .inUse)
        #expect(error?.message.contains("1 login ") == true)
        await #expect(try world.vault.provider(named: "acme").tokenEndpoint.rawValue == "https://acme.example/token")
        let update = try await world.vault.changeProvider(named: "acme", wanted, force: true)
        #expect(update.orphanedLogins == 1)
        #expect(
            try await world.vault.store.auditEntries(after: 0, limit: 100).last?.detail.contains(
                .init("forced", "true"))
                == true)
    }

    static let harmless: [@Sendable (inout ProviderChange) throws -> Void] = [
        { $0.tokenEndpoint = try EndpointURL("https://acme.example/v2/token") },
        { $0.authorizationEndpoint = try .set(EndpointURL("https://login.acme.example/authorize")) },
        { $0.revocationEndpoint = .remove },
        { $0.authentication = .clientSecretPost(try ClientSecret("CANARY-secret-2")) },
        { $0.profile = .shipped("google") },
        { $0.redirectURI = .remove },
    ]

    @Test(arguments: harmless.indices)
    func whatKeepsGrantsAliveNeedsNoForce(_ index: Int) async throws {
        let world = try await World()
        try await world.addChain()
        let update = try await world.vault.changeProvider(named: "acme", change(Self.harmless[index]))
        #expect(!update.changes.isEmpty)
        #expect(update.orphanedLogins == 0)
    }

    @Test func withoutLoginsEverythingMayChange() async throws {
        let world = try await World()
        // A login without a refresh token has nothing to lose.
        _ = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(), expiresAt: nil)
        for body in Self.orphaning {
            try await world.vault.changeProvider(named: "acme", change(body))
        }
    }

    @Test func revocationsThatWaitAreNotSentElsewhere() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.serviceUnavailable)
        _ = try await world.users.logOut(.login(login.id))
        for body: (inout ProviderChange) throws -> Void in [
            { $0.revocationEndpoint = .remove },
            { $0.revocationEndpoint = try .set(EndpointURL("https://other.example/revoke")) },
        ] {
            #expect(await code { try await world.vault.changeProvider(named: "acme", change(body)) } == .inUse)
        }
        let update = try await world.vault.changeProvider(
            named: "acme", change { $0.revocationEndpoint = .remove }, force: true)
        #expect(update.orphanedRevocations == 1)
        #expect(update.orphanedLogins == 0)
    }

    static let unusable: [@Sendable (inout ProviderChange) throws -> Void] = [
        { $0.profile = .shipped("nobody") },
        { $0.promotesNextSecret = true },
        {
            $0.authentication = ClientAuthentication.none
            $0.promotesNextSecret = true
        },
    ]

    @Test(arguments: unusable.indices)
    func whatCouldNotBeUsedIsNotStored(_ index: Int) async throws {
        let world = try await World()
        let before = try await world.vault.store.provider(named: "acme")
        #expect(
            await code {
                try await world.vault.changeProvider(named: "acme", change(Self.unusable[index]), force: true)
            }
                == .invalidArgument)
        #expect(try await world.vault.store.provider(named: "acme") == before)
    }

    @Test func anUnknownProviderIsNotChanged() async throws {
        let world = try await World()
        #expect(
            await code { try await world.vault.changeProvider(named: "nobody", ProviderChange()) } == .unknownProvider)
    }

    @Test func aChangedSecretIsUsedAtOnceInEveryProcess() async throws {
        let world = try await World()
        try await world.addChain()
        let other = try await world.anotherProcess()
        world.expire()
        world.transport.enqueue(.error("invalid_client", status: .unauthorized))
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .providerMisconfigured)
        // The breaker is open: nothing is sent.
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .providerMisconfigured)
        #expect(world.transport.requests.count == 1)
        try await other.vault.changeProvider(
            named: "acme", change { $0.authentication = .clientSecretBasic(try ClientSecret("CANARY-secret-2")) })
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        let sent = try #require(world.transport.requests.last?.request.headerFields[.authorization])
        #expect(sent == "Basic " + Data("client-1:CANARY-secret-2".utf8).base64EncodedString())
    }

    @Test func twoChangesAtOnceBothHold() async throws {
        let world = try await World()
        let other = try await world.anotherProcess()
        async let first = world.vault.changeProvider(named: "acme", change { $0.scope = try .set(Scope("one")) })
        async let second = other.vault.changeProvider(
            named: "acme", change { $0.redirectURI = try .set(RedirectURI("https://app.example/two")) })
        _ = try await (first, second)
        let provider = try await world.vault.provider(named: "acme")
        #expect(provider.scope?.description == "one")
        #expect(provider.redirectURI?.rawValue == "https://app.example/two")
    }

    @Test func metadataReplacesWhatDiscoveryFound() async throws {
        let world = try await World()
        let metadata = try ServerMetadata(
            parsing: Array(
                """
                {"issuer":"https://acme.example","token_endpoint":"https://acme.example/v2/token",\
                "authorization_endpoint":"https://acme.example/v2/authorize",\
                "introspection_endpoint":"https://acme.example/introspect"}
                """.utf8), issuer: Issuer("https://acme.example"))
        try await world.addChain()
        let update = try await world.vault.changeProvider(named: "acme", ProviderChange(metadata: metadata))
        #expect(
            update.changes.map(\.field) == [
                "authorizationEndpoint", "tokenEndpoint", "revocationEndpoint", "introspectionEndpoint",
            ])
        #expect(update.current.revocationEndpoint == nil)
    }
}
