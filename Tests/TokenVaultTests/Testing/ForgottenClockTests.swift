import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting

/// A manual clock that nobody advances says so.
struct ForgottenClockTests {
    /// The five seconds pass when a test says so.
    private final class Watch: Sendable {
        private let rounds = (0..<4).map { _ in Gate() }
        private let begun = Mutex(0)
        private let said = Mutex<[String]>([])

        var words: [String] { said.withLock { $0 } }
        var count: Int { begun.withLock { $0 } }

        func clock() -> ManualTimeSource {
            ManualTimeSource(
                watch: .init {
                    let round = self.begun.withLock { begun in
                        defer { begun += 1 }
                        return begun
                    }
                    if round < self.rounds.count { await self.rounds[round].pass() }
                } say: { words in
                    self.said.withLock { $0.append(words) }
                })
        }

        /// Lets the five seconds of this round pass, once they have begun. After it has spoken there is no other round.
        func pass(_ round: Int) async throws {
            try await eventually { self.count > round || !self.words.isEmpty }
            rounds[round].open()
        }
    }

    private func sleeper(_ time: ManualTimeSource) async -> Task<Void, Never> {
        let sleeper = Task { _ = try? await time.sleep(for: .seconds(60)) }
        await time.waitForSleepers()
        return sleeper
    }

    @Test func aClockThatStandsStillSaysSoOnce() async throws {
        let watch = Watch()
        let time = watch.clock()
        let first = await sleeper(time)
        try await watch.pass(0)
        // The watch may have begun before the task slept.
        try await watch.pass(1)
        try await eventually { !watch.words.isEmpty }
        #expect(watch.words.count == 1)
        #expect(watch.words.allSatisfy { $0.contains("time.passing {") && $0.contains("advance(by:)") })
        let rounds = watch.count
        let second = await sleeper(time)
        #expect(watch.count == rounds)
        for sleeper in [first, second] { sleeper.cancel() }
    }

    @Test func aClockThatIsAdvancedSaysNothing() async throws {
        let watch = Watch()
        let time = watch.clock()
        let sleeper = await sleeper(time)
        for round in 0..<3 {
            try await eventually { watch.count > round }
            time.advance(by: .seconds(1))
            try await watch.pass(round)
        }
        try await eventually { watch.count > 3 }
        #expect(watch.words.isEmpty)
        sleeper.cancel()
        await sleeper.value
        try await watch.pass(3)
    }

    /// A renewal whose reply was lost waits for the clock before it sends the token again.
    @Test func aLostReplyMakesItSpeak() async throws {
        let watch = Watch()
        let time = watch.clock()
        let temporary = try await TemporaryVault(in: .memory, timeSource: time)
        let transport = ScriptedTransport([.failure(.maybeSent, .reset), .freshTokens()])
        let users = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
        try await temporary.vault.addProvider(Sample.provider())
        _ = try await users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
            expiresAt: time.now().addingTimeInterval(-1), refreshToken: Sample.refreshToken())
        let call = Task { try await users.accessToken(userId: "alice").generation }
        await transport.waitForRequests(1)
        await time.waitForSleepers()
        for round in 0..<3 where watch.words.isEmpty { try await watch.pass(round) }
        try await eventually { !watch.words.isEmpty }
        #expect(try await time.passing { try await call.value } == 2)
    }
}
