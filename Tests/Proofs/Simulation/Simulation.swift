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

    package static func play(seed: UInt64, isTraced: Bool = false) -> Result {
        let world = World(seed: seed, isTraced: isTraced)
        world.play()
        world.counts.schedules = 1
        return Result(
            seed: seed, counts: world.counts, hash: world.trace.hash,
            violations: world.judge.violations.map { "\($0.invariant): \($0.text)" },
            behaviour: world.server.behaviour)
    }
}
