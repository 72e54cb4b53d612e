import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

/// Whether the vault can still be opened after a key is lost.
enum KeySlotCheckup {
    private static let provenLongAgo = 180
    private static let day: TimeInterval = 86_400

    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        do {
            return findings(try await vault.keySlots(), openedBy: vault.openingKeySlot, now: now)
        } catch {
            let failure = Failure(error)
            return [.unseen(.keySlots, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    /// - Parameter opening: the slot that has just opened the vault, which proves it.
    static func findings(_ slots: [KeySlot], openedBy opening: KeySlotHandle, now: Date) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if slots.allSatisfy({ $0.kind == .wrapped }) {
            findings.append(
                DoctorFinding(
                    .problem, .keySlots,
                    "no key works without a program's help: if the service or the device behind it is gone, so is the vault",
                    hint: "add a key that needs neither: vaultctl key add --recipient age1..."))
        } else if Set(slots.map { $0.recipient ?? $0.keyName ?? $0.id.description }).count == 1 {
            findings.append(
                DoctorFinding(
                    .warning, .keySlots, "only one key opens the vault: if it is lost, so is everything in the vault",
                    hint: "add a recovery key, and keep it elsewhere: vaultctl key add --recipient age1..."))
        }
        for slot in slots {
            findings += forgery(slot)
            findings += notes(slot, isProven: slot.id == opening, now: now)
        }
        guard findings.isEmpty else { return findings }
        return [DoctorFinding(.ok, .keySlots, "\(slots.count) keys open the vault, and each has been proven")]
    }

    /// Warns of others who can make a vault that the slot's key also opens.
    private static func forgery(_ slot: KeySlot) -> [DoctorFinding] {
        let who: String? =
            switch slot.kind {
            case .recipient: "anyone who knows its recipient"
            case .wrapped: "anyone who may encrypt with the key behind its program"
            default: nil
            }
        guard let who else { return [] }
        return [
            DoctorFinding(
                .note, .keySlots, about: slot.id.description,
                "\(who) can make another vault that its key opens: it opens only the vault that this machine's pin or the "
                    + "witness knows",
                hint: "use a key file or a passphrase every day where you can")
        ]
    }

    private static func notes(_ slot: KeySlot, isProven: Bool, now: Date) -> [DoctorFinding] {
        var notes: [DoctorFinding] = []
        let subject = slot.id.description
        if slot.isCheaperThanToday {
            notes.append(
                DoctorFinding(
                    .note, .keySlots, about: subject, "guessing its passphrase costs less than in a slot made today",
                    hint: "add the passphrase again with vaultctl key add, then remove this slot"))
        }
        guard !isProven else { return notes }
        let age = slot.provenAt.map { Int(now.timeIntervalSince($0) / day) }
        if let age, age <= provenLongAgo { return notes }
        notes.append(
            DoctorFinding(
                .note, .keySlots, about: subject,
                age.map { "its key was last proven \($0) days ago" } ?? "its key was never proven",
                hint: "prove that it still opens the vault: vaultctl key test \(subject)"))
        return notes
    }
}
