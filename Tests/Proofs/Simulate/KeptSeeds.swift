/// Schedules that have found something. They are played in every run.
///
/// A seed means something as long as the simulated world draws its random numbers in the same order. When that changes,
/// take the fix out, let `scripts/proofs/simulate` find it again, and write down the new seed.
enum KeptSeeds {
    static let all: [UInt64] = [
        // The app sets an access token while the server refuses what it has spent: the doubt must stay.
        9_034,
        // A reply to an attempt that was taken over: the fence decides.
        1_970,
    ]
}
