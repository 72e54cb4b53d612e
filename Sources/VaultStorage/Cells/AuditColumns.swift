import VaultCrypto

/// The plaintext of an audit row, and the data that its two guards are bound to.
struct AuditColumns {
    var sequence: Int64
    var time: Timestamp
    var kind: AuditKind
    var user: UserHandle?
    var login: LoginHandle?
    var provider: ProviderHandle?
    var revision: Int64?
    /// Whether a handle of the row is malformed.
    var isMalformed = false

    /// The associated data of the detail cell.
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

    /// The chain's link: it covers all columns, and the detail cell through its tag.
    func link(_ vault: Bytes16, _ keyring: Keyring, previous: AuditMAC, detailTag: CellTag?) -> AuditMAC {
        var data = detailData(vault)
        data.append(detailTag?.bytes)
        return Keyring.auditMAC(previous: previous, row: data, under: keyring.auditKey(ofRow: sequence))
    }
}
