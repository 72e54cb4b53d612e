import VaultCrypto

/// A login's entry in its user's manifest. Nothing in it is secret: the login's own row shows all of it.
struct ManifestEntry: Equatable {
    static let byteCount = 40

    var login: LoginHandle
    var revision: Int64
    /// The tag of the session cell, which represents the whole row.
    var tag: CellTag

    init(login: LoginHandle, revision: Int64, tag: CellTag) {
        self.login = login
        self.revision = revision
        self.tag = tag
    }

    /// - Parameter index: the index of an entry within the bytes.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        let start = index * Self.byteCount
        unsafe login = LoginHandle(bytes.loadUnaligned(fromByteOffset: start, as: Bytes16.self))
        unsafe revision = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 16, as: Int64.self))
        unsafe tag = CellTag(bytes.loadUnaligned(fromByteOffset: start + 24, as: Bytes16.self))
    }
}

extension [ManifestEntry] {
    /// Reads consecutive entries.
    init(entries bytes: UnsafeRawBufferPointer) {
        self = (0..<bytes.count / ManifestEntry.byteCount).map { unsafe ManifestEntry(bytes, at: $0) }
    }

    var encoded: [UInt8] {
        var encoded = [UInt8](zeroes: count * ManifestEntry.byteCount)
        unsafe encoded.withUnsafeMutableBytes { bytes in
            for (index, entry) in enumerated() {
                let start = index * ManifestEntry.byteCount
                unsafe bytes.storeBytes(of: entry.login.bytes, toByteOffset: start, as: Bytes16.self)
                unsafe bytes.storeBytes(
                    of: entry.revision.littleEndian, toByteOffset: start + 16, as: Int64.self)
                unsafe bytes.storeBytes(of: entry.tag.bytes, toByteOffset: start + 24, as: Bytes16.self)
            }
        }
        return encoded
    }

    // MARK: In the order of the handles

    func find(_ login: LoginHandle) -> ManifestEntry? {
        let place = place(of: login)
        return place < count && self[place].login == login ? self[place] : nil
    }

    /// The position of the login, or where it belongs.
    func place(of login: LoginHandle) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].login.bytes < login.bytes { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
