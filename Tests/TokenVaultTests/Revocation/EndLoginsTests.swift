import EngineSupport
import FoundationEssentials
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Ends with a reason, and of many logins at once.
@Suite(.tags(.everyEngine))
struct EndLoginsTests {
    private func revocations(_ world: World) -> [String?] {
        world.transport.requests.filter { $0.path == "/revoke" }.map { $0.form["token"] }
    }

    @Test(arguments: TerminationReason.known)
    func everyReasonCanBeReached(reason: TerminationReason) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        let watcher = await StateWatcher(world.vault, login)
        let report = try await world.users.terminate(.login(login.id), reason: reason)
        #expect(report.isComplete)
        #expect(revocations(world) == ["CANARY-refresh-1"])
        #expect(try await world.vault.login(login.id).state == .terminated(reason))
        #expect(await watcher.states() == [.established, .terminated(reason)])
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .notLoggedIn)
        await #expect(try world.stored(login).refresh == nil)
        await #expect(try world.tale().contains("loginTerminated reason=\(reason)"))
        // The user is not disabled: another log-in works.
        try await world.addChain(name: "2")
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(try await world.vault.verify().isClean)
    }

    @Test func aSecondEndGivesTheNewReason() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        try await world.users.terminate(.login(login.id), reason: .unauthorized)
        let head = try await world.vault.auditHead()
        try await world.users.terminate(.login(login.id), reason: .unauthorized)
        #expect(try await world.vault.auditHead() == head)
        try await world.users.terminate(.login(login.id), reason: .globalBan)
        #expect(try await world.vault.login(login.id).state == .terminated(.globalBan))
        #expect(revocations(world).count == 1)
    }

    @Test func anEndDuringARenewalWins() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let gate = Gate()
        world.transport.enqueue(.generation("2").behind(gate))
        world.transport.fallback = .status(.ok)
        world.expire()
        let caller = Task { try await world.users.accessToken(for: .login(login.id)) }
        await world.transport.waitForRequests(1)
        try await world.users.terminate(.login(login.id), reason: .userDeleted)
        gate.open()
        #expect(await code { try await caller.value } == .notLoggedIn)
        while try await world.vault.status().pendingRevocations > 0, !Task.isCancelled { await Task.yield() }
        #expect(Set(revocations(world)) == ["CANARY-refresh-1", "CANARY-refresh-2"])
    }

    // MARK: Many

    @Test func allLoginsOfAProviderEndAndNoOther() async throws {
        let world = try await World()
        try await world.vault.addProvider(Sample.provider(name: "other"))
        for number in 0..<40 { try await world.addChain(user: "user\(number)", name: "\(number)") }
        let kept = try await world.users.addLogin(
            userId: "user1", provider: "other", accessToken: Sample.accessToken("kept"))
        world.transport.fallback = .status(.ok)
        let seen = Progress()
        let report = try await world.users.endLogins(where: LoginFilter(provider: "acme"), by: .loggedOut) {
            seen.add($0, $1)
        }
        #expect(report.ended == 40)
        #expect(report.settled == 40)
        #expect(report.isComplete)
        #expect(Set(revocations(world)).count == 40)
        #expect(seen.last?.ended == 40)
        #expect(seen.last?.seen == 41)
        #expect(try await world.vault.loginCounts(where: LoginFilter()).logins == 1)
        #expect(try await world.users.accessToken(userId: "user1").login == kept.id)
        #expect(try await world.users.endLogins(where: LoginFilter(provider: "acme"), by: .loggedOut).ended == 0)
        #expect(try await world.vault.verify().isClean)
    }

    @Test func aProviderThatIsSilentHoldsNothingUp() async throws {
        let world = try await World()
        for number in 0..<20 { try await world.addChain(user: "user\(number)", name: "\(number)") }
        world.transport.fallback = .status(.serviceUnavailable)
        let report = try await world.users.endLogins(where: LoginFilter(provider: "acme"), by: .loggedOut)
        #expect(report.ended == 20)
        #expect(report.pending == 20)
        #expect(!report.isComplete)
        #expect(revocations(world).count <= 8)
        #expect(try await world.vault.status().pendingRevocations == 20)
    }

    @Test func logOutsOfAUserKeepAndForgetAsTold() async throws {
        let world = try await World()
        world.transport.fallback = .status(.ok)
        let logins = [try await world.addChain(name: "1"), try await world.addChain(name: "2")]
        try await world.addChain(user: "bob", name: "3")
        let report = try await world.users.endLogins(
            where: LoginFilter(userId: "alice"), by: .terminated(.globalBan))
        #expect(report.ended == 2)
        for login in logins { #expect(try await world.vault.login(login.id).state == .terminated(.globalBan)) }
        // They are ended, so there is nothing to do a second time.
        #expect(
            try await world.users.endLogins(where: LoginFilter(userId: "alice"), by: .terminated(.globalBan)).ended == 0
        )
        let count = world.transport.requestCount
        let removed = try await world.users.endLogins(where: LoginFilter(standings: [.terminated]), by: .removed)
        #expect(removed.ended == 2)
        #expect(world.transport.requestCount == count)
        #expect(try await world.users.accessToken(userId: "bob").name == "3")
    }

    @Test func everythingIsNeverEndedByAnEmptyFilter() async throws {
        let world = try await World()
        try await world.addChain()
        #expect(
            await code { try await world.users.endLogins(where: LoginFilter(), by: .loggedOut) } == .invalidArgument)
        #expect(
            await code { try await world.users.endLogins(where: LoginFilter(provider: "no"), by: .removed) }
                == .unknownProvider)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
    }
}

private final class Progress: Sendable {
    private let reported = Mutex<[(ended: Int, seen: Int)]>([])

    func add(_ ended: Int, _ seen: Int) { reported.withLock { $0.append((ended, seen)) } }
    var last: (ended: Int, seen: Int)? { reported.withLock { $0.last } }
}
