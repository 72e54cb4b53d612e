import TestSupport
import Testing

/// The simulation takes over Swift's concurrency, so it runs in a process of its own. Here is a small part of it;
/// `scripts/proofs/simulate` plays more.
struct SimulationTests {
    private func simulate(_ arguments: String...) async throws -> (status: Int32, output: String) {
        let run = try await ProgramRun(BuiltProgram.url("simulate"), arguments)
        return (run.exitCode, run.output)
    }

    private static let schedules = "\(Depth.pick(brief: 30, nightly: 1_000, deep: 1_000))"

    @Test func schedulesKeepTheInvariants() async throws {
        let (status, output) = try await simulate("--from", "900001", "--schedules", Self.schedules)
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func schedulesWithMachinesKeepTheInvariants() async throws {
        let (status, output) = try await simulate("--machines", "--from", "900001", "--schedules", Self.schedules)
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func schedulesWithSchedulersKeepTheInvariants() async throws {
        let (status, output) = try await simulate("--schedulers", "--from", "900001", "--schedules", Self.schedules)
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func aRefusalOfEverybodyCostsWhatTheFuseLetsThrough() async throws {
        let worlds = "\(Depth.pick(brief: 3, nightly: 40, deep: 400))"
        let (status, output) = try await simulate("--from", "900001", "--refusals", worlds)
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func aProviderThatChangesItsRulesIsReportedAndNoOther() async throws {
        let seeds = "\(Depth.pick(brief: 1, nightly: 12, deep: 100))"
        let (status, output) = try await simulate("--from", "900001", "--drifts", seeds)
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func keptSeedsKeepTheInvariants() async throws {
        let (status, output) = try await simulate("--kept")
        #expect(status == 0, "\(output)")
    }

    @Test func theSameSeedGivesTheSameTraceInAnotherProcess() async throws {
        for seed in ["1", "77", "4711"] {
            let first = try await simulate("--seed", seed, "--trace")
            let second = try await simulate("--seed", seed, "--trace")
            #expect(first.output == second.output)
            #expect(first.output.contains("hash "))
            #expect(first.output.split(separator: "\n").count > 10)
            let third = try await simulate("--machines", "--seed", seed, "--trace")
            #expect(try await simulate("--machines", "--seed", seed, "--trace").output == third.output)
            #expect(third.output != first.output)
            let fourth = try await simulate("--schedulers", "--seed", seed, "--trace")
            #expect(try await simulate("--schedulers", "--seed", seed, "--trace").output == fourth.output)
            #expect(fourth.output != first.output)
        }
        #expect(try await simulate("--seed", "1").output != simulate("--seed", "2").output)
    }

    @Test func wrongArgumentsAreRefused() async throws {
        #expect(try await simulate("--sed", "1").status == 1)
    }
}
