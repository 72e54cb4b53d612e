import CSodium

/// An address in guarded memory.
@safe struct GuardedAddress: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
}

/// One `sodium_malloc` region: guard pages on both sides, excluded from core dumps, wiped when freed.
@safe struct GuardedRegion: ~Copyable {
    let base: UnsafeMutableRawPointer
    let byteCount: Int
    /// Whether the kernel promised to keep the region out of swap.
    let isLocked: Bool

    typealias Lock = @Sendable (_ start: GuardedAddress, _ byteCount: Int) -> Bool

    /// `sodium_malloc` also locks, but does not report a failure; locking again is harmless and returns the result.
    static let lockWithSodium: Lock = { unsafe sodium_mlock($0.pointer, $1) == 0 }

    init(byteCount: Int, lock: Lock) throws(VaultCryptoError) {
        try Sodium.initialize()
        guard let base = unsafe sodium_malloc(byteCount) else {
            throw VaultCryptoError(
                .outOfGuardedMemory,
                "no guarded memory is left for keys",
                hint: "raise the limits on address space and memory mappings"
            )
        }
        unsafe self.base = base
        self.byteCount = byteCount
        isLocked = unsafe lock(GuardedAddress(pointer: base), byteCount)
        unsafe sodium_memzero(base, byteCount)
    }

    deinit { unsafe sodium_free(base) }
}
