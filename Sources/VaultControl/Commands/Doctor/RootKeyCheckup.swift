import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

/// The root key's age, and whether a rotation, or a replacement of the index key, was left unfinished.
enum RootKeyCheckup {
    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        do {
            let root = finding(try await vault.rootKeyStatus(), now: now)
            return [root, indexFinding(try await vault.indexKeyStatus(), now: now)]
        } catch {
            let failure = Failure(error)
            return [.unseen(.rootKey, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    private static func indexFinding(_ status: IndexKeyStatus, now: Date) -> DoctorFinding {
        guard status.isReplacing else {
            return DoctorFinding(.ok, .indexKey, "was made \(Instant.relative(status.madeAt, now: now))")
        }
        return DoctorFinding(
            .warning, .indexKey, "is being replaced: the former one has not been given up",
            hint: "go on with: vaultctl key rotate --index")
    }

    static func finding(_ status: RootKeyStatus, now: Date) -> DoctorFinding {
        guard status.isRotating else {
            return DoctorFinding(.ok, .rootKey, "was made \(Instant.relative(status.madeAt, now: now))")
        }
        let left = status.remaining.total
        return DoctorFinding(
            .warning, .rootKey,
            left > 0
                ? "is being replaced: \(Count.of(left, "cell")) still sealed under the old one"
                : "is being replaced: the old one has not been given up",
            hint: "go on with: vaultctl key rotate")
    }
}
