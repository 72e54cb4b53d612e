/// A hash of content that is sealed in the same cell. It must stay sealed: anyone who can guess the content can confirm
/// the guess.
///
/// Keyed BLAKE2b-128 of each part in turn; the key is the hash of the parts before it, at first sixteen zero bytes.
package struct ContentHash {
    package private(set) var value = Bytes16.zero

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { unsafe add(bytes, .contentPart) }

    /// A missing part differs from an empty part.
    package mutating func add(_ text: String?) {
        guard var text else { return addNone() }
        text.withUTF8 { utf8 in unsafe add(UnsafeRawBufferPointer(utf8)) }
    }

    package mutating func addNone() {
        unsafe add(UnsafeRawBufferPointer(start: nil, count: 0), .contentNone)
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, _ domain: KeyedHash.Domain) {
        let key = value
        unsafe key.withUnsafeBytes { key in
            guard let key = key.baseAddress else { return }
            unsafe KeyedHash.hash(bytes, key: key, keyByteCount: Bytes16.byteCount, domain: domain, into: &value)
        }
    }
}
