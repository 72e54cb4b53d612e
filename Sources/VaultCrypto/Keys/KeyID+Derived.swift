import CSodium

extension KeyID {
    /// The id of a key that wraps a vault key: a keyed hash of nothing but a fixed name, which tells a wrong key from
    /// a damaged slot and gives nothing else away.
    /// - Parameter key: 32 readable bytes.
    static func derived(from key: UnsafeRawPointer) -> KeyID {
        var value = Bytes16.zero
        unsafe KeyedHash.hash([], key: key, domain: .slotKeyID, into: &value)
        return KeyID(value)
    }
}
