import TokenVault
import VaultImport

/// Advice on rejected rows, where the reason alone does not suffice.
enum RejectAdvice {
    /// The maximum number of providers listed one by one.
    private static let mostProviders = 8

    /// - Parameter known: the providers of the vault.
    static func lines(for result: ImportResult, of tenant: TenantOption, _ known: [String]) -> [String] {
        var lines = result.missingProviders.prefix(mostProviders).map { line(for: $0, of: tenant, known) }
        if result.missingProviders.count > mostProviders {
            lines.append(
                "and \(result.missingProviders.count - mostProviders) more providers: --report FILE names them")
        }
        if lines.contains(where: { !$0.contains("--provider-map") }) {
            lines.append("a provider that has another name in the vault is mapped to it by --provider-map FILE")
        }
        func count(_ reason: RejectReason) -> Int { result.reasons[reason] ?? 0 }
        if count(.ownerMissing) > 0, count(.ownerMissing) == result.reasons.values.reduce(0, +) {
            lines.append("name the table of users, if it is another one: --user-table TABLE")
        }
        if count(.ambiguousRow) > 0 {
            lines.append(
                "name rows that have no account: --row-key column:NAME, or --row-key line; with --take the tokens are name "
                    + "enough")
        }
        if count(.otherClient) > 0 {
            lines.append(
                "a refresh token works only for the client that got it: add that client as a provider of its own, and "
                    + "map its rows to it with --provider-map FILE; or correct clientId there")
        }
        return lines
    }

    private static func line(for provider: MissingProvider, of tenant: TenantOption, _ known: [String]) -> String {
        let rows = Count.of(provider.rows, "row")
        let isPlain = provider.name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let vault = tenant.tenant.map { "the tenant \($0.tenant.name)" } ?? "the vault"
        guard isPlain else { return "\(vault) has no provider \(Printable.shortened(provider.name)) (\(rows))" }
        let plain = known.map { Tenant.of($0)?.1 ?? $0 }
        if let other = plain.first(where: { $0.lowercased() == provider.name.lowercased() }) {
            return
                "\(vault) has no provider \(provider.name) (\(rows)), but \(Printable.shortened(other)); if it is that: "
                + "--provider-map FILE, and in the file {\"\(provider.name)\": \"\(Printable.shortened(other))\"}"
        }
        if let other = EditDistance.near(provider.name, among: plain).first.map({ Printable.shortened($0) }) {
            return
                "\(vault) has no provider \(provider.name) (\(rows)); did you mean \(other)? Correct the name, or map it to "
                + "\(other) with --provider-map FILE"
        }
        let client = provider.clientID.map { Printable.shortened($0.rawValue, to: 200) } ?? "CLIENT-ID"
        return "\(vault) has no provider \(provider.name) (\(rows)): vaultctl provider add \(provider.name)"
            + "\(tenant.typed) --issuer URL --client-id \(client)"
    }
}
