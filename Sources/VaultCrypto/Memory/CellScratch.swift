import CSodium

/// Guarded memory for the plaintext of open cells. Openings nest: the last one opened ends first.
///
/// One per thread or connection: it must not be used by two threads at once.
package final class CellScratch {
    private let region: GuardedRegion
    private var used = 0

    package init(byteCount: Int = 32 * 1024) throws(VaultCryptoError) {
        region = try GuardedRegion(byteCount: byteCount, lock: GuardedRegion.lockWithSodium)
    }

    /// A cell that does not fit is opened in ordinary memory, wiped and freed afterwards.
    func reserve(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        guard byteCount <= region.byteCount - used else {
            return .allocate(byteCount: byteCount, alignment: 16)
        }
        let start = unsafe region.base + used
        used += byteCount
        return unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    func wipeAndRelease(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        unsafe sodium_memzero(start, buffer.count)
        if unsafe start >= region.base && start < region.base + region.byteCount {
            used -= buffer.count
        } else {
            unsafe buffer.deallocate()
        }
    }
}
