import Foundation
import Testing
import VaultCrypto
import VaultStorage

@Suite(.serialized)
struct TamperingTests {
    @Test(arguments: ["user", "login", "loginSecret", "provider", "audit", "keySlot", "outbox", "migration", "vault"])
    func aDeletedRowIsNoticed(table: String) async throws {
        let vault = try await PopulatedVault()
        let count = try vault.fixture.integer("SELECT count(*) FROM \(table)")
        for offset in 0..<count {
            try vault.restore()
            try vault.fixture.edit(
                "DELETE FROM \(table) WHERE rowid = (SELECT rowid FROM \(table) LIMIT 1 OFFSET \(offset))")
            await #expect(try vault.verdict() != .unnoticed, "\(table) \(offset)")
        }
    }

    @Test func damageOfOneUserLeavesTheOthersReadable() async throws {
        let vault = try await PopulatedVault()
        try vault.fixture.edit(
            "UPDATE login SET generation = generation + 1 WHERE rowid = (SELECT min(rowid) FROM login)")
        let store = try vault.fixture.open()
        let listings = try await store.logins(ofUser: nil, after: nil, limit: 100)
        #expect(listings.count == 6)
        let damaged = try #require(listings.first { $0.damage != nil })
        #expect(listings.filter { $0.damage != nil }.count == 1)
        let error = await #expect(throws: StoreError.self) { try await store.session(.login(damaged.handle)) }
        #expect(error?.code == .quarantined(table: "login", handle: damaged.handle.text))
        await #expect(throws: StoreError.self) { try await store.updateLogin(damaged.handle) { _ in } }
        for listing in listings where listing.damage == nil {
            #expect(try await store.session(.login(listing.handle)).session.accessToken != nil)
            try await store.updateLogin(listing.handle) { $0.session.label = "still works" }
        }
        var owners: [String] = []
        for user in vault.users where (try? await store.user(user).logins.contains(damaged.handle)) ?? false {
            owners.append(user)
        }
        let owner = try #require(owners.first)
        try await store.updateUser(owner) { $0.isErased = true }
        #expect(try await store.verify().findings == [])
    }
}
