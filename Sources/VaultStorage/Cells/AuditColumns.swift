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
    func link(_ context: VaultContext, previous: AuditMAC, detailTag: CellTag?) -> AuditMAC {
        var data = detailData(context.vaultID)
        data.append(detailTag?.bytes)
        return context.keyring.auditMAC(previous: previous, row: data)
    }
}

extension [AuditEvent.Detail] {
    private static var tag: UInt8 { 1 }

    /// `nil` if there is nothing to tell.
    func sealed(_ columns: AuditColumns, _ context: VaultContext) throws(VaultCryptoError) -> [UInt8]? {
        guard !isEmpty else { return nil }
        var record = RecordWriter()
        record.append(Self.tag, flatMap { [$0.key, $0.value] })
        return try SealedCell.seal(
            record, kind: .auditDetail, key: context.keyring.auditKey,
            associatedData: columns.detailData(context.vaultID))
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        self.init()
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            guard field.tag == Self.tag else {
                try field.ignoreIfOptional()
                continue
            }
            let texts = try field.texts()
            for index in stride(from: 0, to: texts.count - 1, by: 2) {
                append(AuditEvent.Detail(texts[index], texts[index + 1]))
            }
        }
    }
}
