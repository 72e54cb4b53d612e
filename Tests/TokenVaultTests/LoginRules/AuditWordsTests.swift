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
                "otherTokenTaken", "doubt", "challenge", "introspected",
            ])
        #expect(ScopeChange.allCases.map(\.rawValue) == ["narrower", "wider"])
        typealias Key = AuditEvent.Detail.Key
        #expect(
            [
                Key.cause, Key.reason, Key.answer, Key.scope, Key.target, Key.after, Key.from, Key.suspected,
                Key.attempt,
                Key.expiry, Key.reply, Key.forced, Key.generation,
            ] == [
                "cause", "reason", "answer", "scope", "for", "after", "from", "suspected", "try", "expiry", "reply",
                "forced", "generation",
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
        let row = try #require(try entries(of: world).last { $0.kind == .renewalFailed })
        #expect(row.cause == cause)
        let fact = SessionRow(row)?.fact
        switch cause {
        case .needsUser: #expect(fact == .obstacle(.needsUserInteraction))
        case .misconfigured: #expect(fact == .obstacle(.providerMisconfigured))
        default: #expect(fact == nil)
        }
    }

    @Test func theReasonOfADeathIsRead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        world.transport.fallback = .error("invalid_grant")
        _ = try? await world.users.accessToken(for: .login(login.id))
        let row = try #require(try entries(of: world).last { $0.kind == .loginDead })
        guard case .died(let failure)? = SessionRow(row)?.fact else {
            Issue.record("the row says nothing of the death")
            return
        }
        #expect(failure.reason == .deadGrant)
    }

    private func entries(of world: World) throws -> [AuditEntry] {
        try world.vault.store.auditEntries(after: 0, limit: 10_000)
    }
}
