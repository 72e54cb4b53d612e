import VaultCrypto

extension RecordField {
    func timestamp() throws(VaultCryptoError) -> Timestamp { Timestamp(milliseconds: try int64()) }

    func texts() throws(VaultCryptoError) -> [String] {
        var result: [String] = []
        var elements = elements()
        while let element = try unsafe elements.next() {
            guard let text = unsafe String(validating: element, as: UTF8.self) else {
                throw VaultCryptoError(.malformedRecord, "a record holds text that is not UTF-8")
            }
            result.append(text)
        }
        return result
    }

    /// Keys and values alternate, in the order of the keys.
    func textTable() throws(VaultCryptoError) -> [String: String] {
        let texts = try texts()
        guard texts.count.isMultiple(of: 2) else {
            throw VaultCryptoError(.malformedRecord, "a record holds a table with a key that has no value")
        }
        var table: [String: String] = [:]
        for index in stride(from: 0, to: texts.count, by: 2) { table[texts[index]] = texts[index + 1] }
        return table
    }

    func secrets() throws(VaultCryptoError) -> [SecretBytes] {
        var result: [SecretBytes] = []
        var elements = elements()
        while let element = try unsafe elements.next() { result.append(unsafe SecretBytes(copying: element)) }
        return result
    }

    /// The first eight bytes of hashes, one after the other.
    func words(atMost limit: Int) throws(VaultCryptoError) -> [UInt64] {
        let count = unsafe bytes.count
        guard count.isMultiple(of: 8), count <= limit * 8 else {
            throw VaultCryptoError(.malformedRecord, "a record holds a list of hashes of the wrong length")
        }
        return stride(from: 0, to: count, by: 8).map { offset in
            unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
}

extension RecordWriter {
    /// An empty list leaves no field.
    mutating func append(_ tag: UInt8, words: [UInt64]) {
        guard !words.isEmpty else { return }
        let stored = words.map(\.littleEndian)
        unsafe stored.withUnsafeBytes { unsafe append(tag, bytes: $0) }
    }

    mutating func append(_ tag: UInt8, _ table: [String: String]) {
        guard !table.isEmpty else { return }
        append(tag, table.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    }

    /// An empty list leaves no field.
    mutating func append(_ tag: UInt8, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        var list = RecordList()
        for text in texts { list.append(text) }
        append(tag, list: list)
    }
}
