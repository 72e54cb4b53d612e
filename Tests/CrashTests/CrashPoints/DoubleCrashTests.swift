import Synchronization
import TestSupport
import Testing
import TokenVault

/// A process is killed while it brings to an end what another killed process has left.
@Suite(.serialized)
struct DoubleCrashTests {
    @Test func aRecoveryThatDiesIsRecoveredFrom() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: 6)
            var cases: [(CrashCase, CrashCase.Strike)] = []
            for behaviour in ServerBehaviour.allCases {
                for place in Depth.current == .deep ? CrashCase.seams : ["afterSend"] {
                    let first = CrashCase(action: .refresh, behaviour: behaviour, strike: .seam(place, 1))
                    let count = try await course.operationsOfRecovery(from: first)
                    let second =
                        (0...count).dropFirst().map { CrashCase.Strike.operation($0) }
                        + CrashCase.seams.map { .seam($0, 1) }
                    cases += second.map { (first, $0) }
                }
            }
            let problems = Mutex<[String]>([])
            let outcomes = Mutex<[String: Int]>([:])
            let queue = Mutex(cases)
            try await course.zygotes.concurrently { zygote in
                while let (first, second) = queue.withLock({ $0.popLast() }) {
                    let scene = try await CrashScene(world, course.template, first, keepsSibling: false)
                    #expect(try await scene.strike(zygote) == .signal(9))
                    let end = try await scene.end(of: scene.begin(zygote, .recover, second))
                    let finding = try await scene.examine(kills: end == .exit(0) ? 1 : 2)
                    outcomes.withLock { $0["\(finding.outcome)", default: 0] += 1 }
                    problems.withLock { $0 += finding.problems.map { "\(first), then \(second): \($0)" } }
                }
            }
            #expect(problems.withLock { $0 } == [])
            #expect(cases.count >= 100)
            print("double crashes: \(cases.count) cases: \(outcomes.withLock { $0 })")
        }
    }
}

extension CrashCourse {
    fileprivate func operationsOfRecovery(from first: CrashCase) async throws -> Int {
        let scene = try await CrashScene(world, template, first, keepsSibling: false)
        #expect(try await scene.strike(zygotes[0]) == .signal(9))
        #expect(try await scene.end(of: scene.begin(zygotes[0], .recover, .none)) == .exit(0))
        return scene.operations
    }
}
