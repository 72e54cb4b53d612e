import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// What is written into the trail is read from it, by this version and by later ones.
struct AuditWordsTests {
    /// Stored words are never changed: a new cause is added here, and none is edited.
    @Test func theWordsAreFrozen() {
        #expect(
            AuditCause.allCases.map(\.rawValue) == [
                "needsUser", "misconfigured", "targetRefused", "transient", "notSent", "withdrawn", "successorOnly",
                "otherTokenTaken", "doubt", "challenge", "introspected", "missing", "providerStopped",
                "resourceMoved",
            ])
        #expect(ScopeChange.allCases.map(\.rawValue) == ["narrower", "wider"])
        typealias Key = AuditEvent.Detail.Key
        #expect(
            [
                Key.cause, Key.reason, Key.answer, Key.scope, Key.target, Key.after, Key.from, Key.suspected,
                Key.attempt,
                Key.expiry, Key.reply, Key.forced, Key.generation, Key.source,
            ] == [
                "cause", "reason", "answer", "scope", "for", "after", "from", "suspected", "try", "expiry", "reply",
                "forced", "generation", "source",
            ])
    }

    /// Each refusal of a provider, and what its row says.
    @Test(arguments: [
        ("invalid_client", AuditCause.misconfigured), ("unauthorized_client", .misconfigured),
        ("interaction_required", .needsUser), ("temporarily_unavailable", .transient),
    ])
    func theCauseOfAFailureIsRead(error: String, cause: AuditCause) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.fallback = .error(error)
        _ = try? await world.users.accessToken(for: .login(login.id))
        let row = try await #require(try entries(of: world).last { $0.kind == .renewalFailed })
        #expect(row.cause == cause)
        let news = SessionRow(row)?.news
        switch cause {
        case .needsUser: #expect(news == [.error(.needsUserInteraction)])
        case .misconfigured: #expect(news == [.error(.providerMisconfigured)])
        default: #expect(news == [])
        }
    }

    @Test func theReasonOfADeathIsRead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.fallback = .error("invalid_grant")
        _ = try? await world.users.accessToken(for: .login(login.id))
        let row = try await #require(try entries(of: world).last { $0.kind == .loginDead })
        let failure = try await #require(try world.vault.login(login.id).failure)
        #expect(failure.reason == .deadGrant)
        #expect(SessionRow(row)?.news == [.refreshFailed(failure)])
    }

    private func entries(of world: World) async throws -> [AuditEntry] {
        try await world.vault.store.auditEntries(after: 0, limit: 10_000)
    }
}
