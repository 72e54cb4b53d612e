import TokenVault

/// Providers whose rules seem to have changed.
enum DriftCheckup {
    static func findings(_ vault: Vault) async -> [DoctorFinding] {
        await DoctorFinding.findings(of: .drift) {
            let drifts = try await vault.providerDrift()
            guard drifts.contains(where: { !$0.isEmpty }) else {
                let replies = drifts.reduce(0) { $0 + $1.replies }
                return [
                    DoctorFinding(
                        .ok, .drift,
                        "no change by \(Count.of(replies, "recorded reply", plural: "recorded replies"))")
                ]
            }
            return drifts.filter { !$0.isEmpty }.map { drift in
                let says = drift.findings.map(\.says) + drift.earlier.map(\.says)
                return DoctorFinding(
                    .warning, .drift, about: drift.provider, says.joined(separator: "; "),
                    hint: "see it with: vaultctl provider drift \(Printable.argument(drift.provider))")
            }
        }
    }
}
