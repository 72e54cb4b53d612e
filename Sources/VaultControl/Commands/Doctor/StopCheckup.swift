import FoundationEssentials
import TokenVault

/// Providers that have ended one login after another, and whose other logins wait.
enum StopCheckup {
    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        await DoctorFinding.findings(of: .login) {
            try await vault.stoppedProviders().map { provider in
                let count = provider.ended.map { "\($0) logins" } ?? "many logins"
                return DoctorFinding(
                    .problem, .login, about: provider.name,
                    "the provider ended \(count) in a row and is stopped since \(Instant.relative(provider.since, now: now)): "
                        + "its other logins wait until one is renewed",
                    hint: "ask the provider; if it ends them for good reason, run: vaultctl provider accept-deaths "
                        + Printable.argument(provider.name))
            }
        }
    }
}
