package import FoundationEssentials
import Platform
package import TokenVault
import VaultCrypto
import VaultStorage

/// A witness's record of a vault: the end of its audit trail.
package struct WitnessedState: Sendable, Equatable {
    package let sequence: Int64
    /// The link of that row, in base64.
    package let link: String
    package let incarnation: Int64
}

extension Vault {
    /// The state of the vault that a witness would record now.
    package func witnessNote() async throws -> WitnessedState {
        try await VaultError.translating {
            let note = try await store.read { reader throws(StoreError) in try reader.witnessNote() }
            return WitnessedState(
                sequence: note.position.sequence, link: Base64.encode(note.position.link.array),
                incarnation: note.incarnation)
        }
    }

    /// The state that a witness has seen, after the vault was compared with it. Changes neither.
    ///
    /// - Throws: ``VaultError/Code/rollbackSuspected`` if the witness has seen another state than the vault's, or
    ///   nothing.
    package func state(seenBy witness: VaultWitness) async throws -> WitnessedState {
        try await VaultError.translating {
            let (keeper, context) = (try witness.stored, store.context)
            guard let text = try await BlockingLane.witness.run({ try keeper.text(context) }) else {
                throw StoreError.hasNoNote(keeper, since: try await store.witnessedSince())
            }
            do throws(StoreError) {
                let note = try await store.read { reader throws(StoreError) in try reader.check(against: text) }
                return WitnessedState(
                    sequence: note.position.sequence, link: Base64.encode(note.position.link.array),
                    incarnation: note.incarnation)
            } catch {
                throw error.naming(keeper)
            }
        }
    }

    /// When the vault got a witness; nil if it never had one, as far back as its trail goes. May read the whole trail.
    package func witnessedSince() async throws -> Date? {
        try await VaultError.translating { try await store.witnessedSince()?.date }
    }

    /// Whether this path is on the file system of the vault: then damage to one may affect the other, too.
    package func sharesDevice(with other: String) -> Bool {
        let device = { (path: String) in try? FileStatus(at: path, followingLinks: true).identity.device }
        guard let own = device(path), let there = device(other) ?? device(WitnessFile(other).directory) else {
            return false
        }
        return own == there
    }
}
