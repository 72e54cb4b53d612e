import CSodium

/// Randomness from the operating system, through libsodium.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        Sodium.prepare()
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let start = buffer.baseAddress { unsafe randombytes_buf(start, count) }
            initialized = count
        }
    }

    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        Sodium.prepare()
        if let start = buffer.baseAddress { unsafe randombytes_buf(start, buffer.count) }
    }

    package static func bytes16(count: Int) -> [Bytes16] {
        var values = [Bytes16](repeating: .zero, count: count)
        unsafe values.withUnsafeMutableBytes { unsafe fill($0) }
        return values
    }

    package static func bytes16() -> Bytes16 {
        var value = Bytes16.zero
        unsafe withUnsafeMutableBytes(of: &value) { unsafe fill($0) }
        return value
    }
}
