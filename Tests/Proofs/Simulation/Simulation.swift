/// Plays one schedule of the real engine in a simulated world.
package enum Simulation {
    package struct Result: Sendable {
        package let seed: UInt64
        package let counts: Counts
        /// The same for the same seed and the same code.
        package let hash: UInt64
        package let violations: [String]
        package let behaviour: Behaviour
    }

    /// Takes over Swift's concurrency in this process, for good: nothing else must use it then.
    package static func takeOver() {
        JobQueue.shared.install()
        Randomness.install()
    }

    /// - Parameters:
    ///   - hasMachines: Whether the vault is on a server that processes of several machines reach by a network; otherwise all
    ///     of them are on the machine that has it.
    ///   - hasSchedulers: Whether processes also renew ahead of need.
    package static func play(
        seed: UInt64, hasMachines: Bool = false, hasSchedulers: Bool = false, isTraced: Bool = false
    ) -> Result {
        let world = World(seed: seed, hasMachines: hasMachines, hasSchedulers: hasSchedulers, isTraced: isTraced)
        world.play()
        world.counts.schedules = 1
        return Result(
            seed: seed, counts: world.counts, hash: world.trace.hash,
            violations: world.judge.violations.map { "\($0.invariant): \($0.text)" },
            behaviour: world.server.behaviour)
    }
}
