import CSodium

/// Keyed BLAKE2b-128 with a personalisation, so that one key can serve several purposes.
enum KeyedHash {
    /// The personalisations, exactly 16 bytes each as BLAKE2b requires.
    enum Domain: String, CaseIterable {
        case userIndex = "TokenVault user "
        case stateIndex = "TokenVault state"
        case nameIndex = "TokenVault pname"
        case slotKeyID = "TokenVault keyid"
        case witness = "TokenVault witns"
        case contentPart = "TokenVault part "
        case contentNone = "TokenVault none "
    }

    static func hash(
        _ message: UnsafeRawBufferPointer, key: UnsafeRawPointer, keyByteCount: Int = SealingKey.byteCount,
        domain: Domain, into value: inout Bytes16
    ) {
        let personal = domain.personalisation
        unsafe withUnsafeMutableBytes(of: &value) { output in
            unsafe personal.withUnsafeBytes { personal in
                guard let target = output.baseAddress, let name = personal.baseAddress else { return }
                unsafe _ = crypto_generichash_blake2b_salt_personal(
                    target.u8, output.count,
                    message.baseAddress?.u8, UInt64(message.count),
                    key.u8, keyByteCount,
                    nil, name.u8
                )
            }
        }
    }

    static func hash(_ message: [UInt8], key: UnsafeRawPointer, domain: Domain, into value: inout Bytes16) {
        unsafe message.withUnsafeBytes { unsafe hash($0, key: key, domain: domain, into: &value) }
    }
}

extension KeyedHash.Domain {
    private static let userIndexBytes = bytes(of: .userIndex)
    private static let stateIndexBytes = bytes(of: .stateIndex)
    private static let nameIndexBytes = bytes(of: .nameIndex)
    private static let slotKeyIDBytes = bytes(of: .slotKeyID)
    private static let witnessBytes = bytes(of: .witness)
    private static let contentPartBytes = bytes(of: .contentPart)
    private static let contentNoneBytes = bytes(of: .contentNone)

    private static func bytes(of domain: Self) -> Bytes16 {
        Bytes16(Array(domain.rawValue.utf8)) ?? .zero
    }

    fileprivate var personalisation: Bytes16 {
        switch self {
        case .userIndex: Self.userIndexBytes
        case .stateIndex: Self.stateIndexBytes
        case .nameIndex: Self.nameIndexBytes
        case .slotKeyID: Self.slotKeyIDBytes
        case .witness: Self.witnessBytes
        case .contentPart: Self.contentPartBytes
        case .contentNone: Self.contentNoneBytes
        }
    }
}
