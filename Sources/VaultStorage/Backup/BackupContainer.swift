package import VaultCrypto

/// The end of a backup's file: `database ‖ manifest ‖ MAC ‖ trailer`. SQLite reads the file as it is, up to the
/// manifest.
///
/// The checksum needs no key: it covers the digest of the database, the manifest, the MAC, and the trailer before it.
/// So each byte of the file is covered.
package struct BackupContainer: Sendable, Equatable {
    /// The bytes read `TVBK` in a hex dump. A backup is not a vault: a program that used it as one would spend refresh
    /// tokens again.
    package static let applicationID: Int64 = 0x5456_424B
    package static let trailerByteCount = 56
    /// The maximum size of a manifest. No vault's manifest is longer.
    package static let manifestLimit = 1 << 20
    private static let magic = Array("TVBACKUP".utf8)
    private static let format: UInt32 = 1

    package let manifest: BackupManifest
    package let mac: AuditMAC

    package init(_ manifest: BackupManifest, _ mac: AuditMAC) {
        self.manifest = manifest
        self.mac = mac
    }

    /// The bytes that follow the database.
    package func encoded() -> [UInt8] {
        let record = manifest.encoded()
        var trailer = Self.magic
        Self.append(Self.format, to: &trailer)
        Self.append(UInt32(record.count), to: &trailer)
        Self.append(UInt64(manifest.byteCount), to: &trailer)
        return record + mac.array + trailer + checksum(record, trailer)
    }

    private func checksum(_ record: [UInt8], _ trailer: [UInt8]) -> [UInt8] {
        var digest = DigestStream()
        digest.add(manifest.digest)
        digest.add(record)
        digest.add(mac.array)
        digest.add(trailer)
        return digest.finish()
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    // MARK: Reading

    /// The number of bytes that follow the database, as the trailer states it.
    package static func tailByteCount(_ trailer: [UInt8], fileByteCount: Int64) throws(StoreError) -> Int {
        guard trailer.count == trailerByteCount, Array(trailer[..<8]) == magic else {
            throw StoreError(
                .notABackup, "the file is not a backup of a vault, or was cut short",
                hint: "check the path; copy it again if a copy was cut short, or use another: vaultctl backup list")
        }
        let format: UInt32 = number(trailer, at: 8)
        guard format == Self.format else {
            throw StoreError(
                .notABackup, "the backup has format \(format), and this version knows only \(Self.format)",
                hint: "use the version of TokenVault that wrote it, or a later one")
        }
        let manifestCount = Int(number(trailer, at: 12) as UInt32)
        let count = manifestCount + AuditMAC.byteCount + trailerByteCount
        guard manifestCount <= manifestLimit,
            Int64(clamping: number(trailer, at: 16) as UInt64) == fileByteCount - Int64(count)
        else { throw .damagedBackup("its length differs from the one that it states") }
        return count
    }

    /// - Parameter tail: the bytes that follow the database.
    package init(tail: [UInt8]) throws(StoreError) {
        let record = Array(tail.dropLast(AuditMAC.byteCount + Self.trailerByteCount))
        let trailer = Array(tail.suffix(Self.trailerByteCount))
        let macBytes = Array(tail.dropFirst(record.count).prefix(AuditMAC.byteCount))
        guard let mac = unsafe macBytes.withUnsafeBytes({ unsafe AuditMAC($0) }) else {
            throw .damagedBackup("it has no authentication code")
        }
        self.init(try BackupManifest(record), mac)
        guard checksum(record, Array(trailer.dropLast(32))) == Array(trailer.suffix(32)),
            Int64(clamping: Self.number(trailer, at: 16) as UInt64) == manifest.byteCount
        else { throw .damagedBackup("its manifest is not as it was written") }
    }

    private static func number<N: FixedWidthInteger>(_ bytes: [UInt8], at offset: Int) -> N {
        bytes[offset..<offset + N.bitWidth / 8].reversed().reduce(0) { $0 << 8 | N(truncatingIfNeeded: $1) }
    }

    /// Refuses a manifest that was not written with a key of this vault.
    package func authenticate(_ context: VaultContext) throws(StoreError) {
        guard manifest.vault == context.vaultID, manifest.mac(context) == mac else {
            throw .damagedBackup("its manifest was not written by a process that could open the vault")
        }
    }
}
