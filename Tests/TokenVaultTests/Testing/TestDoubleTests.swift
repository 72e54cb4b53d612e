import FoundationEssentials
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// What users' tests are made of.
struct TestDoubleTests {
    @Test(arguments: [TemporaryVault.Place.disk, .memory])
    func aTemporaryVaultLeavesNothingBehind(_ place: TemporaryVault.Place) async throws {
        var directory = ""
        do {
            let temporary = try await TemporaryVault(in: place)
            directory = temporary.directory
            #expect(FileManager.default.fileExists(atPath: temporary.path))
            let second = try await temporary.openAgain()
            try await second.addProvider(Sample.provider())
            #expect(try await temporary.vault.providerEntries().count == 1)
            await second.close()
            await temporary.vault.close()
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func aVaultInMemoryIsInMemory() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        #expect(try await TemporaryVault(in: .memory).directory.hasPrefix("/dev/shm/"))
    }

    /// A process that was killed could not remove its directory.
    @Test func onlyDirectoriesOfDeadProcessesAreRemoved() async throws {
        let living = try await TemporaryVault()
        let parent = String(
            living.directory.prefix { $0 != "\0" }.split(separator: "/").dropLast().joined(separator: "/"))
        let abandoned = "/" + parent + "/token-vault-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: abandoned, withIntermediateDirectories: true)
        let next = try await TemporaryVault()
        #expect(!FileManager.default.fileExists(atPath: abandoned))
        #expect(FileManager.default.fileExists(atPath: living.path))
        #expect(FileManager.default.fileExists(atPath: next.path))
    }

    /// However long a reply takes on this machine, a deadline of the other clock does not pass meanwhile.
    @Test func timeStandsStillWhileAVaultIsAtWork() async throws {
        let (world, login) = try await makeWorld()
        world.transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            try? await Task.sleep(for: .milliseconds(60))
            return try await ScriptedReply.freshTokens().reply(to: request)
        }
        world.expire()
        let before = world.time.uptime()
        let token = try await world.time.passing {
            try await world.users.accessToken(for: .login(login.id), TokenRequest(deadline: .seconds(20)))
        }
        #expect(token.generation == 2)
        #expect(world.time.uptime() == before)
        // The deadline's alarm has been called off.
        await world.time.waitForRest()
        #expect(world.time.sleeperCount == 0)
    }

    @Test func stepStopsAtTheNextAwaitedInstant() async throws {
        let time = ManualTimeSource()
        let woken = try await time.passing(step: .seconds(3_600)) {
            var woken: [Duration] = []
            for seconds in [1, 7, 2] {
                try await time.sleep(for: .seconds(seconds))
                woken.append(time.uptime())
            }
            return woken
        }
        #expect(woken == [.seconds(1), .seconds(8), .seconds(10)])
    }

    @Test func sleepsThatAreCancelledAsTheyEndLeaveNothingBehind() async {
        let time = ManualTimeSource()
        for _ in 0..<500 {
            let sleeper = Task { try? await time.sleep(for: .seconds(1)) }
            if Bool.random() { await time.waitForSleepers() }
            async let cancelled: Void = sleeper.cancel()
            time.advance(by: .seconds(1))
            await cancelled
            await sleeper.value
        }
        #expect(time.sleeperCount == 0)
        #expect(time.keptCancellations == 0)
    }

    private func makeWorld() async throws -> (World, Login) {
        let world = try await World()
        world.transport.fallback = .freshTokens()
        return (world, try await world.addChain())
    }

    @Test(arguments: [
        (SimulatedFailure.temporary, VaultError.Code.tryLater), (.permanent, .refreshFailed),
        (.outage(retryAfterSeconds: 9), .tryLater), (.rateLimit(retryAfterSeconds: 9), .tryLater),
        (.lostReply, .tryLater), (.refusedClient, .providerMisconfigured),
    ])
    func aSimulatedFailureIsWhatItSays(_ failure: SimulatedFailure, _ expected: VaultError.Code) async throws {
        let (world, login) = try await makeWorld()
        world.transport.simulate(failure)
        world.expire()
        let outcome = await world.time.passing {
            await code { try await world.users.accessToken(for: .login(login.id)) }
        }
        #expect(outcome == expected)
        world.transport.simulate(nil)
        guard expected != .refreshFailed else { return }
        world.time.advance(by: .seconds(60))
        #expect(try await world.users.accessToken(for: .login(login.id)).generation == 2)
    }

    @Test func aFailureMayMeetSoManyRequests() async throws {
        let (world, login) = try await makeWorld()
        world.transport.simulate(.rateLimit(retryAfterSeconds: 1), times: 1)
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .tryLater)
        world.time.advance(by: .seconds(2))
        #expect(try await world.users.accessToken(for: .login(login.id)).generation == 2)
        #expect(world.transport.requestCount == 2)
    }

    @Test func aScriptedHandlerFailsForAWhileAndForGood() async throws {
        let world = try await World()
        let handler = ScriptedRefreshHandler()
        let users = try await UserManager(
            vault: world.vault, transport: world.transport, refreshHandler: handler, options: .deterministic)
        try await world.addPlainLogin()
        handler.enqueue(Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(9_000))
        handler.failure = .temporary
        world.expire()
        #expect(await code { try await users.accessToken(userId: "alice") } == .tryLater)
        handler.failure = nil
        world.time.advance(by: .seconds(1))
        #expect(try await users.accessToken(userId: "alice").name == "2")
        handler.failure = .permanent
        world.time.advance(by: .seconds(9_000))
        #expect(await code { try await users.accessToken(userId: "alice") } == .refreshFailed)
        #expect(handler.asked == ["alice", "alice", "alice"])
        #expect(handler.failed == ["alice"])
    }
}
