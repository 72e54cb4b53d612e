import Foundation
import Testing
import VaultCrypto
import VaultStorage

struct CanaryTests {
    /// Nothing that must be sealed is in any file of the vault, at any time of its life.
    @Test func noFileHoldsATokenAKeyOrAUserId() async throws {
        let vault = try await PopulatedVault()
        let store = try vault.fixture.open()
        _ = try await store.insertLogin(vault.fixture.draft("dora-the-user-id"))
        let login = try await store.session(.user("dora-the-user-id"))
        try await store.updateLogin(login.login) { $0.session.label = "CANARY-label" }
        try await store.updateUser("alice") { $0.isErased = true }
        let needles = [
            "CANARY", "dora-the-user-id", "user-of-request", "carol", "as.example", "client_secret", "Bearer",
            "generation", "acme",
        ].map { Data($0.utf8) }
        var scanned = 0
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: vault.fixture.path + suffix))
            scanned += data.count
            for needle in needles where !(suffix == "" && needle == Data("generation".utf8)) {
                #expect(data.range(of: needle) == nil, "\(suffix): \(String(decoding: needle, as: UTF8.self))")
            }
        }
        print("canaries: \(scanned) bytes scanned")
    }

    @Test func errorsNameNoUserAndNoSecret() async throws {
        let vault = try await PopulatedVault()
        try vault.fixture.edit("UPDATE login SET revision = revision + 1")
        let store = try vault.fixture.open()
        for user in vault.users + ["nobody"] {
            let error = await #expect(throws: StoreError.self) { try await store.session(.user(user)) }
            let text = String(describing: error) + String(reflecting: error)
            #expect(!text.contains(user) && !text.contains("CANARY"))
        }
    }
}
