import CSodium

/// BLAKE2b-256 without a key, of bytes that arrive piece by piece; see ``Checksum/digest(of:)``.
@safe package struct DigestStream: ~Copyable {
    private let state: UnsafeMutableRawPointer

    package init() {
        // libsodium's state is aligned to 64 bytes.
        unsafe state = .allocate(byteCount: crypto_generichash_blake2b_statebytes(), alignment: 64)
        unsafe _ = crypto_generichash_blake2b_init(pointer, nil, 0, 32)
    }

    deinit { unsafe state.deallocate() }

    private var pointer: OpaquePointer { unsafe OpaquePointer(state) }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe _ = crypto_generichash_blake2b_update(pointer, bytes.baseAddress?.u8, UInt64(bytes.count))
    }

    package mutating func add(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe add($0) } }

    /// The digest of all bytes added.
    package consuming func finish() -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 32)
        unsafe value.withUnsafeMutableBytes { output in
            guard let target = output.baseAddress else { return }
            unsafe _ = crypto_generichash_blake2b_final(pointer, target.u8, output.count)
        }
        return value
    }
}
