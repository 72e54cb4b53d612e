import EngineSupport
import Synchronization
import TestSupport
import Testing
import VaultStorage

@testable import TokenVault

/// The vault cannot be read or written for a while: its server fails over, its disk is full.
@Suite(.tags(.everyEngine))
struct SchedulerOutageTests {
    @Test("all logins are renewed soon after an outage", arguments: [false, true])
    func renewedSoonAfter(_ failsToRead: Bool) async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let count = try await world.addChains(8).count
        let process = try await world.faulty()
        process.store.fail(Array(repeating: .before, count: 1_000_000), afterCommits: 0)
        let reads = Mutex(0)
        process.store.beforeReading { () throws(StoreError) in
            let number = reads.withLock { reads in
                reads += 1
                return reads
            }
            // Not all: otherwise nothing is found that is due.
            if failsToRead, !number.isMultiple(of: 3) { throw StoreError(.busy, "the server cannot be reached") }
        }
        try await world.scheduling(with: process.users) { _ in
            await world.pass(upTo: .seconds(3_700), step: .seconds(20))
            await world.pass(upTo: .seconds(40))
            #expect(server.count == 0)
            process.store.fail([], afterCommits: 0)
            process.store.beforeReading(nil)
            await world.pass(upTo: .seconds(5)) { server.count == count }
            #expect(server.count == count)
        }
    }
}
