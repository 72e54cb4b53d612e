import Foundation
import Synchronization
import TestSupport
import Testing
import TokenVault

/// A process is killed at every place on the way of everything that changes a login; then another one comes.
@Suite(.serialized)
struct CrashPointTests {
    private static let width = 6

    @Test func noPlaceToDieLosesAChainThatCanBeKept() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: Self.width)
            var cases: [CrashCase] = []
            for behaviour in ServerBehaviour.allCases {
                for way in CrashCase.Course.allCases {
                    cases += try await course.everyPlace(
                        of: CrashCase(action: .refresh, behaviour: behaviour, course: way))
                }
            }
            for action in CrashCase.Action.allCases where ![.refresh, .serve, .recover].contains(action) {
                for behaviour in [ServerBehaviour.strict, .grace] {
                    cases += try await course.everyOperation(of: CrashCase(action: action, behaviour: behaviour))
                }
            }
            let tally = try await course.run(cases)
            #expect(tally.problems == [])
            let points = Set(cases.map(\.point)).count
            #expect(points >= 60 && cases.count >= Depth.pick(brief: 400, nightly: 800, deep: 800))
            print("crash points: \(points) places, \(cases.count) cases, \(tally.description)")
        }
    }
}

/// The same while programs of the machine ask for tokens over the socket of `vaultctl serve`.
@Suite(.serialized)
struct ServedCrashPointTests {
    @Test func noPlaceToDieLosesAChainThroughTheSocket() async throws {
        try await CrashWorld.with { world in
            let course = try await CrashCourse(world, width: 6)
            var cases: [CrashCase] = []
            for behaviour in Depth.current == .brief ? [.strict, .nonce] : ServerBehaviour.allCases {
                for way in CrashCase.Course.allCases {
                    let model = CrashCase(action: .serve, behaviour: behaviour, course: way)
                    cases += try await course.everyOperation(of: model) + course.everySeam(of: model)
                }
            }
            let tally = try await course.run(cases)
            #expect(tally.problems == [])
            let points = Set(cases.map(\.point)).count
            #expect(points >= 60 && cases.count >= Depth.pick(brief: 170, nightly: 300, deep: 300))
            print("crash points through the socket: \(points) places, \(cases.count) cases, \(tally.description)")
        }
    }
}

/// Zygotes, and the cases that they are given.
final class CrashCourse: Sendable {
    struct Tally: Sendable, CustomStringConvertible {
        var problems: [String] = []
        var outcomes: [String: Int] = [:]
        var killed = 0
        var killedAfterActing = 0

        var description: String {
            "\(killed) killed, \(killedAfterActing) after the server had acted: "
                + outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
                .joined(separator: ", ")
        }
    }

    let world: CrashWorld
    let template: CrashTemplate
    let zygotes: [Zygote]

    /// - Parameter server: Where the vaults are; nil: in files.
    init(_ world: CrashWorld, width: Int, on server: PostgreSQLServer? = nil) async throws {
        self.world = world
        template = if let server { .server(server) } else { try await .files(world) }
        zygotes = try (0..<width).map { _ in try Zygote() }
    }

    /// How many writes and syncs it takes when nothing happens.
    private func operations(of model: CrashCase) async throws -> Int {
        let scene = try await CrashScene(world, template, model, keepsSibling: false)
        #expect(try await scene.strike(zygotes[0]) == .exit(0), "\(model): \(scene.said)")
        let finding = try await scene.examine()
        #expect(finding.problems == [], "\(model)")
        return scene.operations
    }

    func everyOperation(of model: CrashCase) async throws -> [CrashCase] {
        let count = try await operations(of: model)
        guard count > 0 else { return [] }
        var strikes = (1...count).map { CrashCase.Strike.operation($0) } + [.afterOperation(count)]
        if Depth.current == .brief {
            // Every second one with each server, and with the next server those between.
            let first = (ServerBehaviour.allCases.firstIndex(of: model.behaviour) ?? 0) % 2
            strikes = stride(from: first, to: strikes.count, by: 2).map { strikes[$0] }
        }
        return strikes.map { model.struck($0) }
    }

    /// Every place on the way of a request, which is the same on every engine.
    func everySeam(of model: CrashCase) -> [CrashCase] {
        let again = model.course == .answers ? [] : ["requestSent", "replyBegun"].map { CrashCase.Strike.seam($0, 1) }
        return (CrashCase.seams.map { .seam($0, model.lastRequest) } + again).map { model.struck($0) }
    }

    func everyPlace(of model: CrashCase) async throws -> [CrashCase] {
        var strikes: [CrashCase.Strike] = []
        if model.course == .answers {
            strikes += [0, 1, 64, 119, 120, 200, 512, 1_000, 2_048, 4_095].map { .spool($0) } + [.served]
            strikes += (1...6).map { .unspooling($0) }
        }
        return try await everyOperation(of: model) + everySeam(of: model) + strikes.map { model.struck($0) }
    }

    /// All of them, several at a time.
    func run(_ cases: [CrashCase]) async throws -> Tally {
        let tally = Mutex(Tally())
        let queue = Mutex(Array(cases.enumerated().reversed()))
        _ = try await zygotes.concurrently { zygote in
            while let (number, crash) = queue.withLock({ $0.popLast() }) {
                let scene = try await CrashScene(
                    self.world, self.template, crash, keepsSibling: number.isMultiple(of: 2))
                let end = try await scene.strike(zygote)
                let finding = try await scene.examine()
                tally.withLock { tally in
                    if end != .exit(0) { tally.killed += 1 }
                    if end != .exit(0), finding.hadActed { tally.killedAfterActing += 1 }
                    tally.outcomes["\(finding.outcome)", default: 0] += 1
                    tally.problems += finding.problems.map { "\(crash): \($0)" }
                    if case .exit(let status) = end, status != 0 {
                        tally.problems.append("\(crash): ended with \(status): \(scene.said)")
                    }
                }
            }
        }
        return tally.withLock { $0 }
    }
}

extension CrashCase {
    func struck(_ strike: Strike) -> CrashCase {
        var copy = self
        copy.strike = strike
        return copy
    }
}
