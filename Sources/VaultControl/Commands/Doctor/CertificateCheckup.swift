import FoundationEssentials
import TokenVault

/// How long the client's certificates for providers remain valid (RFC 8705).
enum CertificateCheckup {
    /// A certificate must be ordered, registered and deployed before the old one expires, and a client secret, too.
    static let warning: TimeInterval = 30 * 86_400

    static func findings(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        do {
            let providers = try await vault.providerEntries().compactMap(\.provider)
            let findings = providers.compactMap { provider in
                provider.certificate.map { finding($0, of: provider.name, now: now) }
            }
            return findings.isEmpty ? [DoctorFinding(.ok, .certificate, "no provider is shown one")] : findings
        } catch {
            let failure = Failure(error)
            return [.unseen(.certificate, failure.message, level: .problem, hint: failure.hints.first)]
        }
    }

    static func finding(_ certificate: Provider.CertificateView, of provider: String, now: Date) -> DoctorFinding {
        let end = Instant.relative(certificate.notValidAfter, now: now)
        let problem = CertificateValidity.problem(
            from: certificate.notValidBefore, until: certificate.notValidAfter, now: now)
        if let problem {
            return DoctorFinding(
                .problem, .certificate, about: provider, "the client certificate \(problem)",
                hint: certificate.notValidAfter <= now
                    ? hint(provider) : "check this machine's clock: timedatectl status"
            )
        }
        if certificate.notValidAfter.timeIntervalSince(now) < warning {
            return DoctorFinding(
                .warning, .certificate, about: provider, "the client certificate expires \(end)", hint: hint(provider))
        }
        return DoctorFinding(.ok, .certificate, about: provider, "the client certificate expires \(end)")
    }

    private static func hint(_ provider: String) -> String {
        "register a new one with the provider, then run: vaultctl provider update \(Printable.argument(provider)) "
            + "--client-certificate PATH --client-certificate-key PATH"
    }
}
