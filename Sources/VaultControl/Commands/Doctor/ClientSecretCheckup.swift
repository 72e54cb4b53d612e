import FoundationEssentials
import TokenVault

/// How long the clients' secrets remain valid, where their provider makes them expire.
enum ClientSecretCheckup {
    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        guard let providers = try? await vault.providerEntries().compactMap(\.provider) else {
            return [.unseen(.clientSecret, "the providers cannot be read", level: .problem)]
        }
        let findings = providers.compactMap { provider in
            provider.clientSecretExpiresAt.map { finding($0, of: provider.name, now: now) }
        }
        return findings.isEmpty ? [DoctorFinding(.ok, .clientSecret, "none is known to end")] : findings
    }

    static func finding(_ end: Date, of provider: String, now: Date) -> DoctorFinding {
        let words = Instant.relative(end, now: now)
        let hint =
            "make a new one at the provider, then run: vaultctl provider update \(Printable.argument(provider)) "
            + "--client-secret-file PATH --client-secret-expires DATE"
        if end <= now {
            return DoctorFinding(
                .problem, .clientSecret, about: provider, "the client secret ended \(words)", hint: hint)
        }
        let level = end.timeIntervalSince(now) < CertificateCheckup.warning ? DoctorFinding.Level.warning : .ok
        return DoctorFinding(
            level, .clientSecret, about: provider, "the client secret ends \(words)", hint: level == .ok ? nil : hint)
    }
}
