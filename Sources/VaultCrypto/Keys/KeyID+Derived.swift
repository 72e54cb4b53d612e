import CSodium

extension KeyID {
    /// The id of a key that wraps a vault key: a keyed hash of a fixed name. It distinguishes a wrong key from a
    /// damaged slot and reveals nothing else.
    /// - Parameter key: 32 readable bytes.
    static func derived(from key: UnsafeRawPointer) -> KeyID {
        var value = Bytes16.zero
        unsafe KeyedHash.hash([], key: key, domain: .slotKeyID, into: &value)
        return KeyID(value)
    }
}
