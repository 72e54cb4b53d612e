package import FoundationEssentials
package import OAuthClient
import VaultCrypto
import VaultStorage

/// A provider whose replies contradict its profile, or what they were before.
package struct ProviderDrift: Sendable {
    package let provider: String
    let handle: ProviderHandle
    /// What the replies show now.
    package let findings: [DriftFinding]
    /// What was reported since the profile was last changed, and is not among ``findings``: newer replies hide it.
    package let earlier: [DriftReport]
    /// Whether each of ``findings`` was reported since the profile was last changed.
    let isReported: Bool
    /// The number of replies that were examined.
    package let replies: Int

    package var isEmpty: Bool { findings.isEmpty && earlier.isEmpty }
}

/// A finding as it was reported, for a record without the provider's words.
package struct DriftReport: Hashable, Sendable {
    package let kind: DriftFinding.Kind
    package let says: String
    package let at: Date
}

extension Vault {
    private static let mostRefusedLogins = 100

    /// Compares the recorded replies of each provider with its profile. Reads only; asks no provider.
    ///
    /// - Parameter name: One provider; nil: all.
    package func providerDrift(of name: String? = nil) async throws -> [ProviderDrift] {
        try await VaultError.translating {
            let providers =
                if let name { [try await store.provider(named: name)] } else {
                    try await store.providers().compactMap(\.provider)
                }
            guard !providers.isEmpty else { return [] }
            let entries = try await store.replyEntries(of: Set(providers.map(\.handle)))
            var drifts: [ProviderDrift] = []
            for provider in providers {
                // One whose profile this version cannot read says nothing about the others.
                guard name != nil || (try? provider.record.profile) != nil else { continue }
                drifts.append(try await drift(of: provider, entries[provider.handle] ?? []))
            }
            return drifts
        }
    }

    private func drift(of provider: StoredProvider, _ entries: [AuditEntry]) async throws -> ProviderDrift {
        let history = try await store.history(of: provider.handle)
        let since = history.profileSet?.sequence ?? 0
        let replies = await observed(entries.filter { $0.sequence > since })
        let findings = DriftSearch(try provider.record.profile, replies).findings()
        let kinds = Set(findings.map(\.kind))
        let reports = history.reports
        return ProviderDrift(
            provider: provider.record.name, handle: provider.handle, findings: findings,
            earlier: reports.filter { !kinds.contains($0.kind) },
            isReported: kinds.isSubset(of: reports.map(\.kind)), replies: replies.count)
    }

    private func observed(_ entries: [AuditEntry]) async -> [ObservedReply] {
        var numbers: [LoginHandle: Int] = [:]
        var refusals: [LoginHandle: RefusalRecord] = [:]
        for entry in entries {
            guard let login = entry.login else { continue }
            numbers[login] = numbers[login] ?? numbers.count
            guard entry.isUnregisteredRefusal, refusals[login] == nil, refusals.count < Self.mostRefusedLogins else {
                continue
            }
            // The login's last words: an earlier refusal may have had others.
            refusals[login] = try? await store.login(login).session.lastRefusal
        }
        return entries.compactMap { entry in
            guard let login = entry.login, let number = numbers[login] else { return nil }
            return ObservedReply(entry, login: number, refusal: entry.isUnregisteredRefusal ? refusals[login] : nil)
        }
    }

    /// Records what is new, once for each finding and state of the profile, in whichever process looks first.
    ///
    /// - Returns: The providers with something new.
    func reportDrift() async throws -> [ProviderDrift] {
        var told: [ProviderDrift] = []
        for drift in try await providerDrift() where !drift.isReported {
            var details: [AuditEvent.Detail] = []
            for finding in drift.findings where !details.contains(where: { $0.key == finding.kind.rawValue }) {
                details.append(.init(finding.kind.rawValue, finding.summary))
            }
            let isNew = try await VaultError.translating { [details] in
                try await store.reportDrift(of: try await store.provider(named: drift.provider), details)
            }
            if isNew { told.append(drift) }
        }
        return told
    }

    /// The change that makes a provider's profile say what its replies show. The profile's file, with the changes and
    /// their source, will be sealed with the provider.
    package func acceptance(of drift: ProviderDrift) async throws -> ProviderChange {
        let record = try await VaultError.translating { try await store.provider(named: drift.provider).record }
        guard
            let current = record.profileDocument.map({ Array($0.utf8) })
                ?? ProviderProfile.shippedFile(record.profileName)
        else { throw VaultError(.invalidArgument, "this version has no profile \(record.profileName)") }
        var change = ProviderChange()
        do throws(ProfileError) {
            change.profile = .document(
                try ProviderProfile.document(
                    current, with: drift.findings.flatMap(\.edits),
                    observed: drift.findings.map(\.summary) + drift.earlier.map(\.says),
                    on: String(now.date.formatted(.iso8601).prefix(10)), file: "\(record.profileName).json"))
        } catch {
            throw VaultError(.invalidArgument, error.description)
        }
        return change
    }
}

extension ProviderHistory {
    fileprivate var reports: [DriftReport] {
        guard let drift else { return [] }
        return findings.compactMap { finding in
            DriftFinding.Kind(rawValue: finding.key).map {
                DriftReport(kind: $0, says: finding.value, at: drift.time.date)
            }
        }
    }
}
