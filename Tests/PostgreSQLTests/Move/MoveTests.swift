import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto

@testable import TokenVault
@testable import VaultStorage

/// Everything that a vault holds goes to another one, and is renewed in one of the two at most.
struct MoveTests {
    private struct Killed: Error {}

    @Test(arguments: MoveScene.Way.all) func nothingIsLostOnTheWay(_ way: MoveScene.Way) async throws {
        let scene = try MoveScene(way)
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        let before = try await source.facts()
        #expect(before.logins.count == 158 && before.users.count == 158 && before.outbox.count == 3)
        #expect(before.requests.count == 1 && before.replies.count == 1 && before.untold.count == 1)
        #expect(before.logins.contains { $0.isHeld && !$0.session.isHeldBySource })
        let plan = try await source.planMove(to: target)
        #expect(plan.logins == 158 && !plan.wasBegun && plan.pendingLogIns == 1)
        #expect(try await source.moveState() == nil)
        let report = try await source.move(to: target)
        #expect(report.logins == 158 && report.users == 158 && report.providers == 2)
        #expect(report.pendingRevocations == 3 && report.keptReplies == 1 && report.pendingLogIns == 1)
        #expect(try await target.facts() == before)
        #expect(try await source.facts() == before, "the source can still be read")
        try await Self.expectOwner(target, not: source)
        for vault in [source, target] { #expect(try await vault.store.verify().findings == []) }
        #expect(try await source.moveState()?.stage == .left)
        #expect(try await target.moveState()?.stage == .arrived)
        await source.close()
        await target.close()
        // As any vault: also for those who open it later.
        try await scene.target.with { target in
            #expect(try await target.facts() == before)
            try await target.checkReadiness()
            try await target.checkWriting()
        }
        try await scene.source.with { source in
            await Self.expect(.moved) { try await source.checkReadiness() }
            await Self.expect(.moved) { try await source.checkWriting() }
            #expect(source.readOnlyReason != nil)
        }
    }

    @Test func theTrailOfTheTargetNamesTheSource() async throws {
        let scene = try MoveScene(.init(from: .file, to: .server))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        try await source.move(to: target)
        let rows = try await target.store.auditEntries(after: 0, limit: 1_000)
        let first = try #require(rows.first { $0.kind == .moveArrived })
        #expect(rows.prefix { $0.kind != .moveArrived }.map(\.kind) == [.vaultCreated])
        #expect(first.value("source") == Base32.encode(source.store.context.vaultID))
        let head = try #require(first.value("head").flatMap { Int64($0) })
        let held = try #require(try await source.store.auditPosition(head))
        #expect(first.value("link") == Hexadecimal.text(held.link.array))
        #expect(try await source.store.auditEntries(after: head - 1, limit: 1).first?.kind == .moveBegun)
        #expect(rows.count { $0.kind == .loginMoved } == 158)
        #expect(rows.count { $0.kind == .userMoved } == 1)
        #expect(rows.last?.kind == .moveFinished && rows.last?.value("logins") == "158")
        await source.close()
        await target.close()
    }

    /// Wherever it ends: no login can be renewed in both, and the next run comes to the same end.
    @Test(arguments: MoveScene.Way.ended) func aMoveThatEndsAnywhereGoesOn(_ way: MoveScene.Way) async throws {
        var steps = 0
        while true {
            let scene = try MoveScene(way)
            let (source, target) = (try await scene.source.create(), try await scene.target.create())
            try await source.fill()
            let before = try await source.facts()
            let count = Box(0)
            let last = steps
            do {
                _ = try await source.move(to: target, timeLimit: .zero, progress: { _, _ in }) { _ in
                    count.value += 1
                    if count.value > last { throw Killed() }
                }
            } catch is Killed {}
            // As if the process had been killed: nothing is tidied up but what closing does.
            await source.close()
            await target.close()
            let isOver = count.value <= steps
            try await scene.source.with { source in
                try await scene.target.with { target in
                    let (inSource, inTarget) = (try await source.couldRenew(), try await target.couldRenew())
                    #expect(!inSource, "after step \(steps)")
                    #expect(!(inSource && inTarget))
                    let report = try await source.move(to: target)
                    #expect(report.wasBegun && report.logins == 158)
                    #expect(try await target.facts() == before, "after step \(steps)")
                    try await Self.expectOwner(target, not: source)
                    #expect(try await target.store.verify().findings == [])
                }
            }
            if isOver { break }
            steps += 1
        }
        print("a move \(way) was ended at each of its \(steps) steps")
        #expect(steps > 9)
    }

    // MARK: What is refused

    @Test func aRenewalUnderWayKeepsTheMoveFromBeginning() async throws {
        let scene = try MoveScene(.init(from: .file, to: .server))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        let login = try #require(
            try await source.store.users(after: nil, limit: 1_000).first { $0.user?.id == "user 1" }?.user?.logins.first
        )
        let (owner, now) = (source.store.owner, source.now)
        try await source.store.updateLogin(login) { _ = $0.openIntent(owner: owner, at: now) }
        await Self.expect(.busy) { try await source.planMove(to: target) }
        await Self.expect(.busy) { try await source.move(to: target, timeLimit: .zero) }
        #expect(try await source.moveState() == nil)
        #expect(try await target.moveState() == nil)
        try await source.store.updateLogin(login) { $0.intent = nil }
        try await source.move(to: target)
        await source.close()
        await target.close()
    }

    @Test func aReplyInTheSpoolKeepsTheMoveFromBeginning() async throws {
        let scene = try MoveScene(.init(from: .file, to: .file))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        let login = try await source.store.login(
            try #require(try await source.store.users(after: nil, limit: 1).first?.user?.logins.first))
        let handle = try source.store.spool.add(
            SpooledReply(
                login: login.handle, user: login.user, provider: login.provider, position: login.position, fence: 1,
                accessToken: SecretBytes(utf8: "spooled"), tokenType: "Bearer", obtainedAt: source.now))
        await Self.expect(.busy) { try await source.move(to: target, timeLimit: .zero) }
        #expect(try await source.moveState() == nil)
        try source.store.spool.remove(handle)
        try await source.move(to: target)
        await source.close()
        await target.close()
    }

    @Test func whatIsNotEmptyOrPartOfAnotherMoveIsNoTarget() async throws {
        let scene = try MoveScene(.init(from: .file, to: .server))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        let other = try MovedVault(.file)
        let third = try await other.create()
        try await source.fill()
        try await third.addProvider(Sample.provider())
        await Self.expect(.conflict) { try await source.move(to: third) }
        await Self.expect(.invalidArgument) { try await source.move(to: source) }
        #expect(try await source.moveState() == nil)
        // A move that has begun has one target.
        await #expect(throws: Killed.self) {
            _ = try await source.move(to: target, timeLimit: .zero, progress: { _, _ in }) { step in
                if step == .providers { throw Killed() }
            }
        }
        let last = try MovedVault(.file)
        let fourth = try await last.create()
        await Self.expect(.moved) { try await source.move(to: fourth) }
        await Self.expect(.conflict) { try await fourth.move(to: target) }
        await Self.expect(.conflict) { try await source.abortMove(to: fourth) }
        await Self.expect(.moved) { try await target.checkWriting() }
        try await source.move(to: target)
        await Self.expect(.conflict) { try await source.abortMove(to: target) }
        // On from there, and not back into what was left.
        await Self.expect(.conflict) { try await target.move(to: source) }
        try await target.move(to: fourth)
        try await Self.expectOwner(fourth, not: target)
        for vault in [source, target, third, fourth] { await vault.close() }
    }

    @Test(arguments: MoveScene.Way.all) func aMoveThatIsGivenUpLeavesTheSourceAsItWas(
        _ way: MoveScene.Way
    ) async throws {
        let scene = try MoveScene(way)
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        let before = try await source.facts()
        await #expect(throws: Killed.self) {
            _ = try await source.move(to: target, timeLimit: .zero, progress: { _, _ in }) { step in
                if step == .users(1) { throw Killed() }
            }
        }
        try await source.abortMove(to: target)
        try await Self.expectOwner(source, not: target)
        #expect(try await source.facts() == before)
        await Self.expect(.conflict) { try await source.move(to: target) }
        #expect(try await target.moveState()?.stage == .abandoned)
        await Self.expect(.conflict) { try await source.abortMove(to: target) }
        #expect(try await source.store.verify().findings == [])
        await source.close()
        await target.close()
    }

    /// One that loses its target goes on without, on the operator's word.
    @Test func aLostTargetDoesNotKeepTheSourceForEver() async throws {
        let scene = try MoveScene(.init(from: .file, to: .server))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        await #expect(throws: Killed.self) {
            _ = try await source.move(to: target, timeLimit: .zero, progress: { _, _ in }) { _ in throw Killed() }
        }
        try await source.abortMove(to: nil)
        #expect(try await source.couldRenew())
        await source.close()
        await target.close()
    }

    /// Processes that had the source open before the move find out with their next change.
    @Test(arguments: MoveScene.Place.allCases) func otherProcessesAreHeldToo(_ place: MoveScene.Place) async throws {
        let scene = try MoveScene(.init(from: place, to: .file))
        let (source, target) = (try await scene.source.create(), try await scene.target.create())
        try await source.fill()
        let other = try await scene.source.open()
        #expect(try await other.couldRenew())
        try await source.move(to: target)
        #expect(try await !other.couldRenew())
        await Self.expect(.moved) { try await other.addProvider(Sample.provider(name: "late")) }
        let transport = ScriptedTransport()
        let users = try await UserManager(vault: other, transport: transport, options: .deterministic)
        await Self.expect(.moved) { try await users.updateAccessToken(userId: "user 1") }
        #expect(try await users.accessToken(userId: "user 1").accessToken.reveal() == "CANARY-access-user 1")
        #expect(transport.requests.isEmpty)
        for vault in [other, source, target] { await vault.close() }
    }

    /// Which of the two may send refresh tokens.
    private static func expectOwner(
        _ owner: Vault, not other: Vault, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await owner.couldRenew(), sourceLocation: sourceLocation)
        #expect(try await !other.couldRenew(), sourceLocation: sourceLocation)
    }

    private static func expect<R>(
        _ code: VaultError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> R
    ) async {
        let error = await #expect(throws: VaultError.self, sourceLocation: sourceLocation) { _ = try await body() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }
}
