import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Revocations that were not confirmed at once: kept, retried, and ended.
@Suite(.tags(.everyEngine))
struct OutboxTests {
    private func revocations(_ world: World) -> [String?] {
        world.transport.requests.filter { $0.path == "/revoke" }.map { $0.form["token"] }
    }

    private func pending(_ world: World) async throws -> [PendingRevocation] {
        try await world.vault.pendingRevocations().entries.compactMap { entry in
            if case .pending(let revocation) = entry { revocation } else { nil }
        }
    }

    private func kinds(_ world: World) async throws -> [AuditKind] {
        try await world.vault.store.auditEntries(after: 0, limit: 1_000).map(\.kind)
    }

    /// A world in which the provider has not confirmed the end of a login.
    private func worldWithPending(
        dpopKey: DPoPKey? = nil, retryAfter: String? = nil
    ) async throws -> (World, LoginID) {
        let world = try await World()
        let login = try await world.addChain(dpopKey: dpopKey)
        world.transport.enqueue(
            .status(.serviceUnavailable, headers: retryAfter.map { [.retryAfter: $0] } ?? [:]))
        #expect(try await !world.users.logOut(.login(login.id)).isComplete)
        await passesEnd(world)
        return (world, login.id)
    }

    /// What a log-out has begun in the background must not meet the time that a test lets pass.
    private func passesEnd(_ world: World) async {
        while !world.users.revoker.underWay.isIdle, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func whatIsPendingIsListedWithoutSecrets() async throws {
        let (world, login) = try await worldWithPending()
        let revocation = try await #require(try pending(world).first)
        #expect(revocation.login == login)
        #expect(revocation.provider == "acme")
        #expect(revocation.token == .refreshToken)
        #expect(revocation.attempts == 1)
        #expect(revocation.createdAt == world.now)
        #expect(revocation.nextAttemptAt == world.now.addingTimeInterval(30))
        #expect(RevocationID(revocation.id.description) == revocation.id)
        #expect(!"\(revocation)".contains(Sample.marker))
    }

    @Test func nothingIsSentBeforeItsTimeUnlessAskedFor() async throws {
        let (world, _) = try await worldWithPending()
        #expect(try await world.users.retryRevocations().results.isEmpty)
        #expect(revocations(world).count == 1)
        world.transport.fallback = .status(.ok)
        let id = try await #require(try pending(world).first).id
        let report = try await world.users.retryRevocations(.only([id]))
        #expect(report.isComplete)
        #expect(report.results.map(\.outcome) == [.revoked])
        await #expect(try pending(world).isEmpty)
        #expect(await code { try await world.users.retryRevocations(.only([id])) } == .unknownRevocation)
    }

    @Test func theProvidersRetryAfterIsObeyed() async throws {
        let (world, _) = try await worldWithPending(retryAfter: "600")
        world.transport.fallback = .status(.ok)
        world.time.advance(by: .seconds(599))
        #expect(try await world.users.retryRevocations().results.isEmpty)
        world.time.advance(by: .seconds(62))
        #expect(try await world.users.retryRevocations().results.map(\.outcome) == [.revoked])
    }

    @Test func everyFailureMakesThePauseLonger() async throws {
        let (world, _) = try await worldWithPending()
        world.transport.fallback = .failure(.notSent, .connect)
        var pauses: [Double] = []
        for _ in 0..<9 {
            let next = try await #require(try pending(world).first).nextAttemptAt
            pauses.append(next.timeIntervalSince(world.now))
            world.time.advance(by: .seconds(next.timeIntervalSince(world.now)))
            #expect(try await !world.users.retryRevocations().isComplete)
        }
        #expect(pauses == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    }

    @Test func aRestartGoesOnWhereItWasLeft() async throws {
        let (world, _) = try await worldWithPending(dpopKey: .generate())
        world.transport.fallback = .status(.ok)
        world.time.advance(by: .seconds(31))
        let (vault, _) = try await world.anotherProcess()
        while try await world.vault.status().pendingRevocations > 0, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(2))
        }
        #expect(revocations(world) == ["CANARY-refresh-1", "CANARY-refresh-1"])
        // The key lived on for just this proof.
        #expect(world.transport.requests.last?.request.headerFields[HTTPField.Name.dpop] != nil)
        await #expect(try kinds(world).suffix(2) == [.revocationDeferred, .revocationConfirmed])
        await vault.close()
    }

    @Test func aLogOutTakesWhatIsDueAlong() async throws {
        let (world, _) = try await worldWithPending()
        world.transport.fallback = .status(.ok)
        let other = try await world.addChain(name: "2")
        world.time.advance(by: .seconds(31))
        #expect(try await world.users.logOut(.login(other.id)).isComplete)
        while try await world.vault.status().pendingRevocations > 0, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(2))
        }
        #expect(revocations(world).count == 3)
    }

    @Test func aManagerThatIsToldToLeavesTheOutboxAlone() async throws {
        let (world, _) = try await worldWithPending()
        world.transport.fallback = .status(.ok)
        world.time.advance(by: .seconds(31))
        let vault = try await world.temporary.openAgain()
        let users = try await UserManager(
            vault: vault, transport: world.transport, options: .init(retriesRevocationsInBackground: false))
        try await Task.sleep(for: .milliseconds(50))
        #expect(revocations(world).count == 1)
        #expect(try await users.retryRevocations().isComplete)
        await vault.close()
    }

    @Test func whatNobodyConfirmsIsGivenUpAfterOneMoreTry() async throws {
        let (world, _) = try await worldWithPending()
        world.transport.fallback = .status(.serviceUnavailable)
        world.time.advance(by: .seconds(30 * 86_400))
        let report = try await world.users.retryRevocations()
        #expect(report.results.map(\.outcome) == [.givenUp])
        #expect(!report.isComplete)
        #expect(revocations(world).count == 2)
        await #expect(try pending(world).isEmpty)
        let last = try #require(try await world.vault.store.auditEntries(after: 0, limit: 1_000).last)
        #expect(last.kind == .revocationAbandoned)
        #expect(last.detail.contains(.init("cause", "expired")))
    }

    @Test func aTryAfterALongTimeStillCounts() async throws {
        let (world, _) = try await worldWithPending()
        world.transport.fallback = .status(.ok)
        world.time.advance(by: .seconds(60 * 86_400))
        #expect(try await world.users.retryRevocations().results.map(\.outcome) == [.revoked])
    }

    @Test func aProviderThatFailsIsLeftAloneAfterThreeTries() async throws {
        let world = try await World()
        for name in 1...10 { try await world.addChain(name: "\(name)") }
        world.transport.fallback = .status(.serviceUnavailable)
        let report = try await world.users.disableUser("alice")
        #expect(report.results.count == 10)
        #expect(!report.isComplete)
        await passesEnd(world)
        // Three at once, and three of the others in the background.
        #expect(revocations(world).count == 6)
        #expect(try await world.vault.status().pendingRevocations == 10)
        let before = revocations(world).count
        #expect(try await world.users.retryRevocations(.all).results.count == 10)
        #expect(revocations(world).count == before + 3)
    }

    @Test func aNonceFromAFailedTryGoesWithTheNext() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        world.transport.enqueue(
            .status(.serviceUnavailable, headers: [HTTPField.Name.dpopNonce: "n-1"]), .status(.ok))
        try await world.users.logOut(.login(login.id))
        await passesEnd(world)
        try await world.users.retryRevocations(.all)
        let proof = try #require(world.transport.requests.last?.request.headerFields[HTTPField.Name.dpop])
        let claims = try #require(Base64URL.decode(proof.split(separator: ".")[1]))
        #expect(String(decoding: claims, as: UTF8.self).contains(#""nonce":"n-1""#))
    }

    @Test func manyCallersTryAnEntryOnceAtATime() async throws {
        let (world, _) = try await worldWithPending()
        let gate = Gate()
        world.transport.fallback = .status(.ok).behind(gate)
        world.time.advance(by: .seconds(31))
        let calls = (0..<20).map { _ in Task { try await world.users.retryRevocations() } }
        await world.transport.waitForRequests(2)
        try await Task.sleep(for: .milliseconds(50))
        gate.open()
        for call in calls { #expect(try await call.value.isComplete) }
        #expect(revocations(world).count == 2)
    }

    @Test func twoProcessesDoNoHarmToEachOther() async throws {
        let (world, _) = try await worldWithPending()
        let (vault, users) = try await world.anotherProcess()
        let gate = Gate()
        world.transport.fallback = .status(.ok).behind(gate)
        world.time.advance(by: .seconds(31))
        let first = Task { try await world.users.retryRevocations() }
        let second = Task { try await users.retryRevocations() }
        await world.transport.waitForRequests(2)
        gate.open()
        #expect(try await first.value.isComplete)
        #expect(try await second.value.isComplete)
        await #expect(try pending(world).isEmpty)
        await #expect(try kinds(world).filter { $0 == .revocationConfirmed }.count == 1)
        await vault.close()
    }

    /// Queues what a log-out queues, and leaves the rest of it to the test.
    private func endLogin(_ world: World) async throws -> RevocationPlan {
        let login = try await world.addChain()
        let (styles, now) = await (world.users.revocationStyles(ofLogin: login.id.handle), world.vault.now)
        return try await world.vault.updateLogin(login.id.handle) { state in
            let plan = state.planRevocation(styles, now: now)
            state.outbox += plan.records
            state.isRemoved = true
            return plan
        }
    }

    /// The pass that a manager begins by itself may meet an entry before the log-out that queued it does.
    @Test(arguments: [HTTPResponse.Status.serviceUnavailable, .ok])
    func aLogOutTakesTheOutcomeOfAPassThatIsAtItsEntry(_ status: HTTPResponse.Status) async throws {
        let world = try await World()
        let gate = Gate()
        world.transport.enqueue(.status(status).behind(gate))
        let plan = try await endLogin(world)
        world.users.revoker.revokeSoon()
        await world.transport.waitForRequests(1)
        let report = Task { await world.users.finish([plan]) }
        while world.users.revoker.underWay.waitingCount == 0, !Task.isCancelled { await Task.yield() }
        gate.open()
        #expect(await report.value.isComplete == (status == .ok))
        await passesEnd(world)
        #expect(revocations(world).count == 1)
        await #expect(try pending(world).count == (status == .ok ? 0 : 1))
    }

    @Test func aLogOutHearsWhatAPassBeforeItWasTold() async throws {
        let world = try await World()
        world.transport.enqueue(.error("unsupported_token_type"))
        let plan = try await endLogin(world)
        world.users.revoker.revokeSoon()
        await passesEnd(world)
        #expect(await world.users.finish([plan]).results.map(\.outcome) == [.unsupported])
        #expect(revocations(world).count == 1)
    }

    @Test func aTryOfAnotherProcessThatFailedLeavesALogOutPending() async throws {
        let world = try await World()
        let (vault, users) = try await world.anotherProcess()
        world.transport.enqueue(.status(.serviceUnavailable))
        let plan = try await endLogin(world)
        #expect(try await !users.retryRevocations().isComplete)
        let outcome = try #require(await world.users.finish([plan]).results.first).outcome
        guard case .pending(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.code == .tryLater)
        #expect(error.retryAfter == .seconds(30))
        #expect(revocations(world).count == 1)
        await vault.close()
    }

    @Test func whatAnotherProcessHasConfirmedIsConfirmed() async throws {
        let world = try await World()
        let (vault, users) = try await world.anotherProcess()
        world.transport.enqueue(.status(.ok))
        let plan = try await endLogin(world)
        #expect(try await users.retryRevocations().isComplete)
        #expect(await world.users.finish([plan]).results.map(\.outcome) == [.revoked])
        #expect(revocations(world).count == 1)
        await vault.close()
    }

    @Test func theOutboxIsReadPageByPage() async throws {
        let world = try await World()
        for name in 1...5 { try await world.addChain(name: "\(name)") }
        world.transport.fallback = .status(.serviceUnavailable)
        try await world.users.disableUser("alice")
        var ids: [String] = []
        var cursor: PendingRevocationPage.Cursor?
        repeat {
            let page = try await world.vault.pendingRevocations(after: cursor, limit: 2)
            ids += page.entries.map { entry in
                switch entry {
                case .pending(let revocation): revocation.id.description
                case .damaged(_, let problem): problem
                }
            }
            cursor = page.next
        } while cursor != nil
        #expect(ids.count == 5)
        #expect(Set(ids).count == 5)
    }

    /// REFERENCE: RFC 7009 §2.1 and the order that a new log-in needs.
    @Test func newLogInIsStoredBeforeTheOldLoginEnds() async throws {
        let world = try await World()
        let old = try await world.addChain(name: "old")
        let new = try await world.addChain(name: "new")
        #expect(try await world.users.accessToken(for: .login(old.id)).name == "old")
        #expect(world.transport.requestCount == 0)
        world.transport.fallback = .status(.ok)
        #expect(try await world.users.logOut(.login(old.id)).isComplete)
        #expect(revocations(world) == ["CANARY-refresh-old"])
        #expect(try await world.users.accessToken(for: .login(new.id)).name == "new")
    }
}
