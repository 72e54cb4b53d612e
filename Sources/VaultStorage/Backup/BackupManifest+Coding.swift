package import VaultCrypto

extension BackupManifest {
    private enum Tag {
        static let vault: UInt8 = 1
        static let backup: UInt8 = 2
        static let madeAt: UInt8 = 3
        static let schemaVersion: UInt8 = 4
        static let incarnation: UInt8 = 5
        static let auditSequence: UInt8 = 6
        static let auditLink: UInt8 = 7
        static let byteCount: UInt8 = 8
        static let digest: UInt8 = 9
        static let counts: UInt8 = 10
        static let slots: UInt8 = 11
        static let recipients: UInt8 = 12
        static let toolVersion: UInt8 = 13
        static let vaultSequence: UInt8 = 14
    }

    package func encoded() -> [UInt8] {
        var record = RecordWriter(capacity: 1_024)
        record.append(Tag.vault, vault)
        record.append(Tag.backup, backup.bytes)
        record.append(Tag.madeAt, madeAt.milliseconds)
        record.append(Tag.schemaVersion, schemaVersion)
        record.append(Tag.incarnation, incarnation)
        record.append(Tag.auditSequence, auditSequence)
        unsafe auditLink.array.withUnsafeBytes { unsafe record.append(Tag.auditLink, bytes: $0) }
        record.append(Tag.byteCount, byteCount)
        unsafe digest.withUnsafeBytes { unsafe record.append(Tag.digest, bytes: $0) }
        var counts = RecordList()
        for (table, count) in self.counts.sorted(by: { $0.key < $1.key }) { counts.append("\(table)=\(count)") }
        record.append(Tag.counts, list: counts)
        var slots = RecordList()
        for slot in self.slots { slots.append(slot.encoded()) }
        record.append(Tag.slots, list: slots)
        var recipients = RecordList()
        for recipient in self.recipients { recipients.append(recipient) }
        record.append(Tag.recipients, list: recipients)
        record.append(Tag.toolVersion, toolVersion)
        record.append(Tag.vaultSequence, vaultSequence)
        return unsafe [UInt8](record.bytes)
    }

    package init(_ bytes: [UInt8]) throws(StoreError) {
        let read: Result<BackupManifest, VaultCryptoError> = unsafe bytes.withUnsafeBytes { bytes in
            do throws(VaultCryptoError) {
                return .success(try unsafe BackupManifest(record: RecordReader(bytes)))
            } catch { return .failure(error) }
        }
        do throws(VaultCryptoError) { self = try read.get() } catch { throw .damagedBackup(error.message) }
    }

    private init(record: RecordReader) throws(VaultCryptoError) {
        var record = record
        var (bytes, numbers): ([UInt8: [UInt8]], [UInt8: Int64]) = ([:], [:])
        var (counts, slots, recipients): ([String: Int64], [Slot], [String]) = ([:], [], [])
        var toolVersion = ""
        while let field = try record.next() {
            switch field.tag {
            case Tag.vault, Tag.backup, Tag.auditLink, Tag.digest: bytes[field.tag] = unsafe [UInt8](field.bytes)
            case Tag.madeAt, Tag.schemaVersion, Tag.incarnation, Tag.auditSequence, Tag.byteCount,
                Tag.vaultSequence:
                numbers[field.tag] = try field.int64()
            case Tag.counts:
                for text in try field.texts() {
                    let parts = text.split(separator: "=")
                    guard parts.count == 2, let count = Int64(parts[1]) else { throw Self.malformed }
                    counts[String(parts[0])] = count
                }
            case Tag.slots:
                var elements = field.elements()
                while let element = try unsafe elements.next() { slots.append(try unsafe Slot(RecordReader(element))) }
            case Tag.recipients: recipients = try field.texts()
            case Tag.toolVersion: toolVersion = try field.text()
            default: try field.ignoreIfOptional()
            }
        }
        guard let vault = bytes[Tag.vault].flatMap({ Bytes16($0) }),
            let backup = bytes[Tag.backup].flatMap({ Bytes16($0) }), let digest = bytes[Tag.digest], digest.count == 32,
            let link = bytes[Tag.auditLink].flatMap({ unsafe $0.withUnsafeBytes { unsafe AuditMAC($0) } }),
            let madeAt = numbers[Tag.madeAt], let version = numbers[Tag.schemaVersion],
            let incarnation = numbers[Tag.incarnation], let sequence = numbers[Tag.auditSequence],
            let byteCount = numbers[Tag.byteCount], let vaultSequence = numbers[Tag.vaultSequence],
            vaultSequence <= sequence
        else { throw Self.malformed }
        self.init(
            vault: vault, backup: BackupHandle(backup), madeAt: Timestamp(milliseconds: madeAt),
            schemaVersion: version, incarnation: incarnation, auditSequence: sequence, auditLink: link,
            vaultSequence: vaultSequence, byteCount: byteCount, digest: digest, counts: counts, slots: slots,
            recipients: recipients, toolVersion: toolVersion)
    }

    fileprivate static var malformed: VaultCryptoError {
        VaultCryptoError(.malformedRecord, "its manifest lacks a field, or has an invalid one")
    }
}

extension BackupManifest.Slot {
    private enum BackupSlotTag {
        static let handle: UInt8 = 1
        static let kind: UInt8 = 2
        static let keyID: UInt8 = 3
        static let label: UInt8 = 4
    }

    fileprivate func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 64)
        record.append(BackupSlotTag.handle, handle.bytes)
        record.append(BackupSlotTag.kind, kind)
        record.append(BackupSlotTag.keyID, keyID)
        record.append(BackupSlotTag.label, label)
        return record
    }

    fileprivate init(_ record: RecordReader) throws(VaultCryptoError) {
        var record = record
        var (handle, keyID): (Bytes16?, Bytes16?)
        var (kind, label): (Int64?, String?)
        while let field = try record.next() {
            switch field.tag {
            case BackupSlotTag.handle: handle = try field.bytes16()
            case BackupSlotTag.kind: kind = try field.int64()
            case BackupSlotTag.keyID: keyID = try field.bytes16()
            case BackupSlotTag.label: label = try field.text()
            default: try field.ignoreIfOptional()
            }
        }
        guard let handle, let keyID, let kind, let label else { throw BackupManifest.malformed }
        self.init(handle: KeySlotHandle(handle), kind: kind, keyID: keyID, label: label)
    }
}

extension BackupManifest {
    /// A MAC by the vault's audit key: only a process that can open the vault can compute it.
    package func mac(_ context: VaultContext) -> AuditMAC {
        let bytes = encoded()
        var data = AssociatedData(vault: vault, table: "backupManifest")
        data.append(bytes: unsafe bytes.withUnsafeBytes { unsafe Checksum.digest(of: $0) })
        return context.keyring.auditMAC(previous: .genesis, row: data)
    }
}
