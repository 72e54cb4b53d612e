import FoundationEssentials
import TokenVault
import VaultAdministration

/// Renewals that were begun and whose end is not recorded.
enum RenewalCheckup {
    /// Beyond this many, an operator needs their number rather than their names.
    private static let mostListed = 20

    static func findings(_ diagnosis: VaultDiagnosis, _ vault: Vault, now: Date) async -> [DoctorFinding] {
        let renewals = diagnosis.openRenewals
        guard !renewals.isEmpty else { return [DoctorFinding(.ok, .renewal, "none in progress")] }
        var listed: [DoctorFinding] = []
        for renewal in renewals.prefix(mostListed) { listed.append(await finding(renewal, vault, now: now)) }
        guard renewals.count > listed.count else { return listed }
        let count = diagnosis.hasMoreOpenRenewals ? "more than \(renewals.count)" : "\(renewals.count)"
        let dead = renewals.count { $0.owner == .dead }
        return listed + [
            DoctorFinding(
                dead > 0 ? .warning : .note, .renewal,
                "\(count) are open, \(dead) of them from processes that have ended",
                hint: "a running service settles them by itself; check its log if their number does not fall")
        ]
    }

    private static func finding(_ renewal: OpenRenewal, _ vault: Vault, now: Date) async -> DoctorFinding {
        let id = renewal.login.description
        var text = RenewalView.words(renewal, now: now)
        if let doubt = renewal.doubt { text += "; in doubt \(RenewalView.words(doubt, now: now))" }
        do {
            let login = try await vault.diagnosis(of: renewal.login)
            // It may have ended meanwhile.
            guard login.renewal != nil else {
                return DoctorFinding(.ok, .renewal, about: id, "has since ended")
            }
            return DoctorFinding(
                level(login), .renewal, about: id, text, hint: NextStepWords.words(login, now: now))
        } catch {
            let failure = Failure(error)
            return DoctorFinding(
                .problem, .renewal, about: id, "\(text); \(failure.message)", hint: failure.hints.first)
        }
    }

    private static func level(_ login: LoginDiagnosis) -> DoctorFinding.Level {
        switch login.nextStep {
        case .takeOverStalled, .recover, .useToken: .warning
        case .waitForRenewal: .ok
        default: .note
        }
    }
}
