import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// What reads for long, and cannot be cut into pieces, says so: writers of all processes do not wait for its end.
@Suite struct LongReadingTests {
    /// Looks at the announcement whenever something is found.
    private final class Listener: StorageFindings {
        private let other: SQLiteVaultStore
        private(set) var announced: [Bool] = []

        init(_ other: SQLiteVaultStore) { self.other = other }

        func note(_ place: String, row: String?, _ reason: String) { announced.append(other.ownerLock.hasLongSnapshot) }
    }

    @Test func itIsAnnouncedToOtherProcessesUntilItEnds() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        _ = try await store.insertLogin(fixture.draft("alice"))
        let other = try fixture.open()
        defer { other.close() }
        try await store.survey { reader in
            #expect(!other.ownerLock.hasLongSnapshot)
            let count = try reader.tables.longReading { () throws(StoreError) in
                #expect(other.ownerLock.hasLongSnapshot && store.ownerLock.hasLongSnapshot)
                return try reader.userCount()
            }
            #expect(count == 1 && !other.ownerLock.hasLongSnapshot)
            #expect(throws: StoreError.self) {
                try reader.tables.longReading { () throws(StoreError) in throw StoreError.closed }
            }
            #expect(!other.ownerLock.hasLongSnapshot)
        }
        #expect(try await store.statistics().users == 1)
        #expect(try await store.verify().findings == [])
        #expect(!other.ownerLock.hasLongSnapshot)
    }

    @Test func sqlitesOwnCheckIsAnnounced() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        _ = try await store.insertLogin(fixture.draft("alice"))
        let other = try fixture.open()
        defer { other.close() }
        // A reference to a row that does not exist.
        try fixture.edit("UPDATE login SET provider = zeroblob(16), user = 77")
        let listener = Listener(other)
        let connection = try store.database.connect()
        try connection.prepareForInspection()
        defer { connection.close() }
        try connection.checkStorage(listener)
        #expect(!listener.announced.isEmpty && !listener.announced.contains(false))
        #expect(!other.ownerLock.hasLongSnapshot)
    }
}
