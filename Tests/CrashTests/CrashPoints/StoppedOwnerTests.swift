import DevAuthorizationServer
import Glibc
import Synchronization
import TestSupport
import Testing
import TokenVault

/// The owner of a renewal is stopped at every place on its way, and goes on later.
@Suite(.serialized)
struct StoppedOwnerTests {
    @Test func aStoppedOwnerIsWaitedForAndNeverRobbed() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: 6)
            // After the last byte of the reply, the process may be done before it stops.
            let seams = CrashCase.seams.filter { $0 != "replyDelivered" }
            let cases = ServerBehaviour.allCases.flatMap { behaviour in
                seams.map { CrashCase(action: .refresh, behaviour: behaviour, strike: .seam($0, 1)) }
                    // Inside the transaction that stores the intent, and inside the one that stores the tokens.
                    + [2, 12].map { CrashCase(action: .refresh, behaviour: behaviour, strike: .operation($0)) }
            }
            #expect(try await Self.problems(cases, course) == [])
            #expect(cases.count >= 40)
            print("stopped owners: \(cases.count) cases, no token sent twice")
        }
    }

    /// What went wrong in these cases.
    static func problems(_ cases: [CrashCase], _ course: CrashCourse) async throws -> [String] {
        let problems = Mutex<[String]>([])
        let queue = Mutex(cases)
        try await course.zygotes.concurrently { zygote in
            while let crash = queue.withLock({ $0.popLast() }) {
                let found = try await stop(crash, course, zygote)
                problems.withLock { $0 += found.map { "\(crash): \($0)" } }
            }
        }
        return problems.withLock { $0 }
    }

    private static func stop(_ crash: CrashCase, _ course: CrashCourse, _ zygote: Zygote) async throws -> [String] {
        let scene = try await CrashScene(course.world, course.template, crash, keepsSibling: true)
        guard let vault = scene.sibling, let login = scene.login, let grant = scene.grant else { return ["no scene"] }
        var problems: [String] = []
        let users = try await course.world.users(vault, stallLimit: .milliseconds(100))
        let generation = try await vault.login(login).generation
        let job = try await scene.begin(zygote, crash.action, crash.strike, stops: true)
        guard try await job.wait() == .stopped else { return ["was not stopped: \(job.lines)"] }
        do {
            _ = try await users.accessToken(for: .login(login), .renewed)
            problems.append("renewed beside a stopped owner")
        } catch let error as VaultError {
            // Who is stopped in a transaction keeps the whole vault from being written.
            let isInTransaction = if case .operation = crash.strike { true } else { false }
            let expected: [VaultError.Code] = isInTransaction ? [.busy, .refreshStalled] : [.refreshStalled]
            if !expected.contains(error.code) { problems.append("\(error.code)") }
        }
        if try course.world.grant(grant).refreshRequests > scene.primed + 1 { problems.append("sent twice") }
        job.send(SIGCONT)
        if try await scene.end(of: job) != .exit(0) { problems.append("did not go on: \(scene.said)") }
        if try await vault.login(login).generation != generation + 1 { problems.append("did not renew: \(scene.said)") }
        if try course.world.grant(grant).refreshRequests != scene.primed + 1 { problems.append("sent more than once") }
        return try await problems + scene.examine(kills: 0).problems
    }
}
