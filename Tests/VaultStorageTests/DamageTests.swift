import Foundation
import Testing
import VaultCrypto

@testable import VaultStorage

@Suite(.serialized)
struct DamageTests {
    /// One flipped bit: the vault is refused, the damage is found, or a token is given out that is the right one.
    @Test func aFlippedBitNeverGivesAWrongToken() async throws {
        let vault = try await PopulatedVault()
        var counts = ["refused": 0, "error": 0, "right": 0]
        for offset in stride(from: 0, to: vault.size, by: 211) {
            try vault.restore(vault.flipped(at: offset))
            guard let store = try? vault.fixture.open() else {
                counts["refused", default: 0] += 1
                continue
            }
            for user in vault.users {
                do {
                    for login in try store.user(user).logins {
                        let token = try store.login(login).session.accessToken?.string()
                        #expect(
                            token == "CANARY-access-\(user)-CANARY" || token == "CANARY-access-\(user)-2-CANARY",
                            "offset \(offset)")
                        counts["right", default: 0] += 1
                    }
                } catch {
                    counts["error", default: 0] += 1
                }
            }
            store.close()
        }
        print("bit flips: \(counts.sorted { $0.key < $1.key })")
        #expect(counts["error", default: 0] > 10 && counts["right", default: 0] > 100)
    }

    @Test func aDamagedPageIsFoundAndTheRestIsStillLookedAt() async throws {
        let vault = try await PopulatedVault()
        for page in 1..<(vault.size / 4096) {
            var data = vault.bytes
            data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
            try vault.restore(data)
            #expect(try vault.verdict() != .unnoticed, "page \(page)")
        }
    }

    @Test func aTruncatedFileIsNotTakenForANewOne() async throws {
        let vault = try await PopulatedVault()
        for length in stride(from: 0, to: vault.size, by: 3000) {
            try vault.restore(vault.bytes.prefix(length))
            #expect(try vault.verdict() != .unnoticed, "\(length)")
        }
    }
}
