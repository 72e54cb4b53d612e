import VaultCrypto

/// The plaintext of an audit row, and what its two guards are bound to.
struct AuditColumns {
    var sequence: Int64
    var time: Timestamp
    var kind: AuditKind
    var user: UserHandle?
    var login: LoginHandle?
    var provider: ProviderHandle?
    var revision: Int64?
    /// A handle of the row is none.
    var isMalformed = false

    /// What the detail cell is bound to.
    func detailData(_ vault: Bytes16) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "audit")
        data.append(sequence)
        data.append(time.milliseconds)
        data.append(kind.rawValue)
        data.append(user?.bytes)
        data.append(login?.bytes)
        data.append(provider?.bytes)
        data.append(revision)
        return data
    }

    /// What the chain's link covers: all columns, and the detail cell through its tag.
    func link(_ vault: Bytes16, _ keyring: Keyring, previous: AuditMAC, detailTag: CellTag?) -> AuditMAC {
        var data = detailData(vault)
        data.append(detailTag?.bytes)
        return Keyring.auditMAC(previous: previous, row: data, under: keyring.auditKey(ofRow: sequence))
    }
}
