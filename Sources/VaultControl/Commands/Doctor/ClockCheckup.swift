import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault
import TokenVaultHTTP
import VaultAdministration

/// How far the providers' clocks differ from ours. Our signatures carry the time, and providers refuse those that are
/// too old or too new.
enum ClockCheckup {
    private static let limits = HTTPLimits(bodyBytes: 65_536, timeout: .seconds(10))

    /// Reports a clock that is behind the vault's records, as one without a battery is after a start.
    static func behind(_ vault: Vault, now: Date) async -> [DoctorFinding] {
        guard let head = try? await vault.auditHead(),
            let last = try? await vault.auditRecords(before: head + 1, limit: 1).records.first?.date,
            last.timeIntervalSince(now) > 60
        else { return [] }
        return [
            DoctorFinding(
                .problem, .clock,
                "this machine's clock says \(now.formatted(.iso8601)), and the newest row of the audit log is of "
                    + last.formatted(.iso8601),
                hint: "set the clock, if it is the one that is wrong: timedatectl status")
        ]
    }

    static func findings(_ vault: Vault, _ access: VaultAccess) async -> [DoctorFinding] {
        do {
            let providers = try await vault.providerEntries().compactMap(\.provider)
            guard !providers.isEmpty else { return [DoctorFinding(.ok, .clock, "there is no provider to ask")] }
            let transport = try access.makeTransport()
            let findings = await withTaskGroup(of: (Int, DoctorFinding).self) { group in
                for (index, provider) in providers.enumerated() {
                    group.addTask { (index, await finding(provider, transport)) }
                }
                var findings: [(Int, DoctorFinding)] = []
                for await finding in group { findings.append(finding) }
                return findings.sorted { $0.0 < $1.0 }.map(\.1)
            }
            await transport.shutdown()
            return findings
        } catch {
            let failure = Failure(error)
            return [.unseen(.clock, failure.message, hint: failure.hints.first)]
        }
    }

    private static func finding(_ provider: Provider, _ transport: some HTTPTransport) async -> DoctorFinding {
        let response: HTTPResponse
        let startedAt = Date()
        do {
            // Any answer has a date, even a refusal; and a request without a body has no effect.
            let endpoint = provider.tokenEndpoint
            let request = HTTPRequest(
                method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.requestTarget)
            response = try await transport.send(request, body: [], limits: limits).response
        } catch {
            return .unseen(
                .clock, about: provider.name, "it cannot be reached",
                hint: "check the network, and run: vaultctl provider test \(Printable.argument(provider.name))")
        }
        guard let offset = ClockOffset.measured(response, startedAt: startedAt, repliedAt: Date()) else {
            return .unseen(.clock, about: provider.name, "its reply has no usable Date header")
        }
        return finding(offset, provider.name)
    }

    static func finding(_ offset: Duration, _ provider: String) -> DoctorFinding {
        let seconds = Int(offset.components.seconds)
        let words = "its clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") this machine's"
        switch abs(seconds) {
        case ..<5: return DoctorFinding(.ok, .clock, about: provider, "its clock and this machine's agree")
        case ..<60: return DoctorFinding(.warning, .clock, about: provider, words, hint: hint)
        default: return DoctorFinding(.problem, .clock, about: provider, words, hint: hint)
        }
    }

    private static let hint =
        "set this machine's clock by NTP: timedatectl status; providers refuse what is signed at a wrong time"
}
