import CSodium

/// HKDF with SHA-256 (RFC 5869), for keys of one block.
enum HKDF {
    static let byteCount = 32

    /// - Parameters:
    ///   - salt: empty for none.
    ///   - target: ``byteCount`` bytes.
    static func derive(
        _ secret: UnsafeRawBufferPointer, salt: [UInt8], info: [UInt8], into target: UnsafeMutableRawBufferPointer
    ) {
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: byteCount) : salt
        unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { extracted in
            defer { if let start = extracted.baseAddress { unsafe sodium_memzero(start, extracted.count) } }
            unsafe salt.withUnsafeBytes { unsafe hmac(key: $0, secret, into: extracted) }
            // Only one block is needed: T(1) = HMAC(PRK, info ‖ 1).
            unsafe (info + [1]).withUnsafeBytes {
                unsafe hmac(key: UnsafeRawBufferPointer(extracted), $0, into: target)
            }
        }
    }

    /// - Parameter target: ``byteCount`` bytes.
    static func hmac(
        key: UnsafeRawBufferPointer, _ message: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        guard let keyStart = key.baseAddress, let start = message.baseAddress, let output = target.baseAddress else {
            return
        }
        var state = crypto_auth_hmacsha256_state()
        unsafe crypto_auth_hmacsha256_init(&state, keyStart.u8, key.count)
        unsafe crypto_auth_hmacsha256_update(&state, start.u8, UInt64(message.count))
        unsafe crypto_auth_hmacsha256_final(&state, output.u8)
        unsafe sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }
}
