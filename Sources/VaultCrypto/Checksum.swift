import CSodium

/// Detects damage to a piece of a file: BLAKE2b-128 without a key. It proves nothing about who wrote the file.
package enum Checksum {
    package static func of(_ bytes: UnsafeRawBufferPointer) -> Bytes16 {
        var value = Bytes16.zero
        unsafe withUnsafeMutableBytes(of: &value) { output in
            guard let target = output.baseAddress else { return }
            unsafe _ = crypto_generichash_blake2b(
                target.u8, output.count, bytes.baseAddress?.u8, UInt64(bytes.count), nil, 0)
        }
        return value
    }

    /// BLAKE2b-256 without a key: a collision-resistant digest of a byte sequence.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 32)
        let count = value.count
        unsafe value.withUnsafeMutableBytes { output in
            guard let target = output.baseAddress else { return }
            unsafe _ = crypto_generichash_blake2b(
                target.u8, count, bytes.baseAddress?.u8, UInt64(bytes.count), nil, 0)
        }
        return value
    }
}
