import Foundation
import OAuthClient
import RawSockets
import Synchronization
import TestSupport
import Testing
import TokenVaultHTTP

/// Servers that do everything wrong, through the real transport: what is made of it, and what it costs. Memory is
/// measured by `HostileMemoryTests`, in a process of its own.
struct HostileServerTests {
    /// The kernel's socket buffers take what the peer has not read yet.
    private static let mostBytesTaken = 16 << 20

    @Test(arguments: HostileGroup.all)
    func everyCaseIsClassifiedAsItMustAndCostsLittle(_ group: HostileGroup) async throws {
        let transport = AsyncHTTPTransport(options: .loopback)
        try await group.cases.concurrently(atMost: 8) { one in
            let run = try await HostileRun(one, through: transport)
            #expect(run.isExpected(one), "\(one.name): \(run.attempt.outcome)")
            #expect(run.connections <= one.requests && run.attempt.requestsSent == one.requests, "\(one.name)")
            #expect(run.strayConnections == 0, "\(one.name)")
            #expect(run.elapsed < .seconds(300), "\(one.name): \(run.elapsed)")
            #expect(run.bytesTaken < Self.mostBytesTaken, "\(one.name): \(run.bytesTaken) bytes")
            // What a log or an error could show.
            let shown = "\(run.attempt) \(String(reflecting: run.attempt)) \(run.attempt.errorReply, default: "")"
            #expect(!shown.contains("CANARY") && !shown.contains("\u{1B}"), "\(one.name)")
        }
        await transport.shutdown()
    }

    @Test func theTableIsWhole() {
        let names = HostileCase.all.map(\.name)
        #expect(Set(names).count == names.count)
        let verdicts = HostileCase.all.filter { $0.expected.contains(.dead) }
        #expect(verdicts.allSatisfy { $0.expected == [.dead] })
        print("hostile servers: \(names.count) cases, \(verdicts.count) of them verdicts")
    }

    @Test func aServerThatRefusesConnectionsCostsNothing() async throws {
        let transport = AsyncHTTPTransport(options: .loopback)
        let binding = ServerBinding(
            tokenEndpoint: try EndpointURL(
                "http://127.0.0.1:\(RawServer.unusedPort())/token", allowsInsecureLoopback: true),
            clientID: try ClientID("client"), authentication: .none)
        let attempt = await TokenEndpoint(binding: binding, transport: transport, now: { Date() }).refresh(
            RefreshRequest(refreshToken: try RefreshToken("CANARY-refresh-1")), context: ClassificationContext())
        #expect(HostileCase.Outcome(attempt) == .notSent && !attempt.leavesDoubt)
        await transport.shutdown()
    }

    /// What one case leaves behind must not change what the next one means, except by the doubt that it leaves.
    @Test func consecutiveCasesAreClassifiedAlike() async throws {
        let sample = PairSample()
        let transport = AsyncHTTPTransport(options: .loopback)
        let doubts = Mutex(0)
        try await sample.pairs.concurrently(atMost: 12) { pair in
            let first = try await HostileRun(pair.first, through: transport)
            let isInDoubt = first.attempt.leavesDoubt
            let second = try await HostileRun(pair.second, through: transport, isInDoubt: isInDoubt)
            let expected = Set(pair.second.expected.map { isInDoubt && $0 == .later ? .laterInDoubt : $0 })
            #expect(
                second.isExpected(pair.second, of: expected),
                "\(pair.first.name), then \(pair.second.name): \(second.attempt.outcome)")
            if case .dead(let cause) = second.attempt.outcome {
                let isLost = isInDoubt || pair.second.requests > 1
                #expect(cause == (isLost ? .lostResponse : .invalidGrant), "\(pair.first.name)")
            }
            if isInDoubt { doubts.withLock { $0 += 1 } }
        }
        let after = doubts.withLock { $0 }
        print("hostile pairs: \(sample.pairs.count) of \(sample.total), seed \(sample.seed), \(after) after a doubt")
        await transport.shutdown()
    }
}

/// Some of all pairs of cases, or all of them for `scripts/deep`.
private struct PairSample {
    let seed: UInt64
    let pairs: [(first: HostileCase, second: HostileCase)]
    let total: Int

    init() {
        let environment = ProcessInfo.processInfo.environment
        seed = environment["TOKENVAULT_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
        let all = HostileCase.all
        total = all.count * all.count
        let isDeep = Depth.current == .deep
        // Floods cost seconds each.
        let cases = isDeep ? all : all.filter { !$0.isFlood }
        guard !isDeep else {
            pairs = cases.flatMap { first in cases.map { (first, $0) } }
            return
        }
        var generator = SeededGenerator(seed: seed)
        pairs = (0..<Depth.pick(brief: 100, nightly: 300, deep: 0)).map { _ in
            (
                cases[Int.random(in: cases.indices, using: &generator)],
                cases[Int.random(in: cases.indices, using: &generator)]
            )
        }
    }
}
