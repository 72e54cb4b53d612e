import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Processes that open a vault, change one thing, and end. No one of them fills the WAL to its threshold.
@Suite struct ShortLivesTests {
    private static let bound = 1 << 20
    /// Enough for the bound to be passed many times if nothing were done about it.
    private static let closed = Depth.pick(brief: 400, nightly: 10_000, deep: 10_000)

    /// - Parameter hasCompany: whether another process has the vault open all the time.
    @Test(arguments: [false, true])
    func theWALStaysShortWhenTheyCloseTheVault(hasCompany: Bool) async throws {
        let fixture = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        let login = try await fixture.populateBriefly("alice")
        let company = hasCompany ? try Probe(fixture, visits: login, "look") : nil
        var largest = 0
        for _ in 0..<Self.closed {
            let store = try fixture.open()
            try await store.updateLogin(login) { $0.session.attempts = ($0.session.attempts + 1) % 100 }
            largest = max(largest, fixture.walSize)
            store.close()
            largest = max(largest, fixture.walSize)
        }
        print(
            "short lives\(hasCompany ? " beside another" : ""): \(Self.closed) closed, WAL at most \(largest >> 10) KiB"
        )
        #expect(largest < Self.bound)
        if let company { #expect(company.release() == 0) }
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
    }

    @Test(arguments: [false, true])
    func theWALStaysShortWhenTheyAreKilled(hasCompany: Bool) async throws {
        let fixture = try VaultFixture(in: PrivateDirectory(in: "/dev/shm"))
        let login = try await fixture.populateBriefly("alice")
        let company = hasCompany ? try Probe(fixture, visits: login, "look") : nil
        var largest = 0
        // Enough for the bound to be passed twice.
        let count = Depth.pick(brief: 150, nightly: 150, deep: 10_000)
        for _ in 0..<count {
            #expect(try Probe(fixture, visits: login, "kill").wait() != 0)
            largest = max(largest, fixture.walSize)
        }
        print("short lives\(hasCompany ? " beside another" : ""): \(count) killed, WAL at most \(largest >> 10) KiB")
        #expect(largest < Self.bound && largest > CheckpointSchedule.leftover / 2)
        if let company { #expect(company.release() == 0) }
        let store = try fixture.open()
        #expect(try await store.login(login).session.attempts == count)
        store.close()
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
    }
}
