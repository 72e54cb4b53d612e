extension WriteTransaction {
    /// Reports that a provider's replies contradict its profile, unless each of these findings was reported since the
    /// profile was last changed. Earlier findings are repeated, so that the last report has all.
    ///
    /// - Parameter findings: One for each name.
    /// - Returns: Whether there was anything new.
    func reportDrift(of provider: StoredProvider, _ findings: [AuditEvent.Detail]) throws(StoreError) -> Bool {
        let known = try ReplyRows(tables: tables, opener: opener).history(of: provider.handle).findings
        guard findings.contains(where: { finding in !known.contains { $0.key == finding.key } }) else { return false }
        let others = known.filter { report in !findings.contains { $0.key == report.key } }
        try audit(
            AuditEvent(
                .providerDrifted, [.init(ProviderHistory.name, provider.record.name)] + others + findings),
            about: AuditSubject(provider: provider.handle))
        return true
    }
}
