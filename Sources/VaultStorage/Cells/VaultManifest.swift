import VaultCrypto

/// The vault's key slots and providers, each with the tag of its last cell, which represents the whole row.
struct VaultManifest: Sendable, Equatable {
    /// More would not fit into one cell.
    static let mostProviders = 20_000

    private(set) var keySlots = Entries()
    var providers = Entries()
    /// The recipients for which the vault itself has made slots. The slot's own row reveals the recipient only to its
    /// identity.
    private(set) var recipients: [Bytes16: Recipient] = [:]
    /// When a key was last seen to open the slot.
    private(set) var proofs: [Bytes16: Timestamp] = [:]
    /// The mark of a move to another vault or from one.
    var move: MoveMark?

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

        /// The index of the handle, or where it belongs.
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
        static let recipients: UInt8 = 3
        /// Versions that do not know the field refuse the vault: they would change data that another vault has
        /// received.
        static let move: UInt8 = 4
        static let proofs: UInt8 = 128
    }
}

extension VaultManifest {
    /// Adds a slot, or notes that it was resealed.
    mutating func add(_ slot: KeySlotDescription, _ tag: CellTag) {
        keySlots[slot.id] = tag
        if case .recipient(let recipient, _) = slot.kind { recipients[slot.id] = recipient }
    }

    /// Adds a slot that was found in a vault without a manifest.
    mutating func add(_ slot: KeySlot) {
        guard let tag = try? SealedCell.tag(of: slot.wrappedVaultKey) else { return }
        add(slot.description, tag)
    }

    mutating func removeKeySlot(_ handle: Bytes16) {
        keySlots[handle] = nil
        recipients[handle] = nil
        proofs[handle] = nil
    }

    mutating func noteProof(of handle: Bytes16, at time: Timestamp) {
        guard keySlots[handle] != nil else { return }
        proofs[handle] = time
    }
}

extension StoredKeySlot {
    init(_ slot: KeySlotDescription, _ manifest: VaultManifest) {
        self.init(handle: KeySlotHandle(slot.id), description: slot, provenAt: manifest.proofs[slot.id])
    }
}

extension VaultManifest {
    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 64 + (keySlots.count + providers.count) * Entries.byteCount)
        keySlots.append(to: &record, Tag.keySlots)
        providers.append(to: &record, Tag.providers)
        if !recipients.isEmpty {
            record.append(Tag.recipients, pairs: recipients.mapValues(\.bytes))
        }
        if let move { record.append(Tag.move, record: move.encoded()) }
        if !proofs.isEmpty {
            record.append(
                Tag.proofs,
                pairs: proofs.mapValues { time in
                    unsafe withUnsafeBytes(of: time.milliseconds.littleEndian) { unsafe [UInt8]($0) }
                })
        }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.keySlots: keySlots = try unsafe Entries(field.bytes)
            case Tag.providers: providers = try unsafe Entries(field.bytes)
            case Tag.recipients:
                for (handle, bytes) in try unsafe Self.pairs(field.bytes, of: Recipient.byteCount) {
                    recipients[handle] = Recipient(bytes)
                }
            case Tag.move: move = try MoveMark(field)
            case Tag.proofs:
                for (handle, bytes) in try unsafe Self.pairs(field.bytes, of: MemoryLayout<Int64>.size) {
                    let time = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: Int64.self) }
                    proofs[handle] = Timestamp(milliseconds: Int64(littleEndian: time))
                }
            default: try field.ignoreIfOptional()
            }
        }
    }
}

extension VaultManifest {
    /// Handles, each with the value that follows it, in ascending order of the handles.
    fileprivate static func pairs(
        _ bytes: UnsafeRawBufferPointer, of count: Int
    ) throws(VaultCryptoError) -> [(Bytes16, [UInt8])] {
        let size = Bytes16.byteCount + count
        guard bytes.count.isMultiple(of: size) else {
            throw VaultCryptoError(.malformedRecord, "the vault's manifest ends inside an entry")
        }
        var pairs: [(Bytes16, [UInt8])] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let handle = unsafe bytes.loadUnaligned(fromByteOffset: start, as: Bytes16.self)
            if let last = pairs.last, !(last.0 < handle) {
                throw VaultCryptoError(.malformedRecord, "the entries of the vault's manifest are out of order")
            }
            pairs.append((handle, unsafe [UInt8](bytes[(start + Bytes16.byteCount)..<(start + size)])))
        }
        return pairs
    }
}

extension RecordWriter {
    fileprivate mutating func append(_ tag: UInt8, pairs: [Bytes16: [UInt8]]) {
        let bytes = pairs.sorted { $0.key < $1.key }.flatMap { $0.key.array + $0.value }
        unsafe bytes.withUnsafeBytes { unsafe append(tag, bytes: $0) }
    }
}

extension VaultManifest.Entries {
    /// Appends the entries. In memory they have their stored form: 16 bytes of handle and 16 bytes of tag each.
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
