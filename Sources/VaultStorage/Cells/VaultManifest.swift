import VaultCrypto

/// Which key slots and providers the vault has, and the last cell of each, which stands for its whole row.
struct VaultManifest: Sendable, Equatable {
    /// More would not fit into one cell.
    static let mostProviders = 20_000

    var keySlots = Entries()
    var providers = Entries()

    /// In the order of the handles, as they are stored.
    struct Entries: Sendable, Equatable {
        private struct Entry: Sendable, Equatable {
            let handle: Bytes16
            var tag: CellTag
        }

        static let byteCount = 2 * Bytes16.byteCount

        private var entries: [Entry] = []

        var count: Int { entries.count }
        var handles: [Bytes16] { entries.map(\.handle) }

        subscript(handle: Bytes16) -> CellTag? {
            get {
                let index = index(of: handle)
                return isFound(handle, at: index) ? entries[index].tag : nil
            }
            set {
                let index = index(of: handle)
                switch (isFound(handle, at: index), newValue) {
                case (true, let tag?): entries[index].tag = tag
                case (true, nil): entries.remove(at: index)
                case (false, let tag?): entries.insert(Entry(handle: handle, tag: tag), at: index)
                case (false, nil): break
                }
            }
        }

        private func isFound(_ handle: Bytes16, at index: Int) -> Bool {
            index < entries.count && entries[index].handle == handle
        }

        /// Where the handle is, or belongs.
        private func index(of handle: Bytes16) -> Int {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].handle < handle { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private enum Tag {
        static let keySlots: UInt8 = 1
        static let providers: UInt8 = 2
    }
}

extension VaultManifest {
    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 64 + (keySlots.count + providers.count) * Entries.byteCount)
        keySlots.append(to: &record, Tag.keySlots)
        providers.append(to: &record, Tag.providers)
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.keySlots: keySlots = try unsafe Entries(field.bytes)
            case Tag.providers: providers = try unsafe Entries(field.bytes)
            default: try field.ignoreIfOptional()
            }
        }
    }
}

extension VaultManifest.Entries {
    /// An entry lies in memory as it is stored: two times sixteen bytes.
    fileprivate func append(to record: inout RecordWriter, _ tag: UInt8) {
        unsafe entries.withUnsafeBytes { unsafe record.append(tag, bytes: $0) }
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        guard bytes.count.isMultiple(of: Self.byteCount) else {
            throw VaultCryptoError(.malformedRecord, "the vault's manifest ends inside an entry")
        }
        entries.reserveCapacity(bytes.count / Self.byteCount)
        for start in stride(from: 0, to: bytes.count, by: Self.byteCount) {
            let handle = unsafe bytes.loadUnaligned(fromByteOffset: start, as: Bytes16.self)
            let tag = unsafe CellTag(bytes.loadUnaligned(fromByteOffset: start + 16, as: Bytes16.self))
            if let last = entries.last, !(last.handle < handle) {
                throw VaultCryptoError(.malformedRecord, "the entries of the vault's manifest are out of order")
            }
            entries.append(Entry(handle: handle, tag: tag))
        }
    }
}
