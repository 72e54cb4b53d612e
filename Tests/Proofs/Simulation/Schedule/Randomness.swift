import CSodium
import Glibc
import Synchronization

/// Every random byte that libsodium gives in this program: handles, keys and nonces are part of a schedule, too.
enum Randomness {
    /// As C text.
    nonisolated(unsafe) private static let name = unsafe UnsafePointer(strdup("seeded"))
    private static let state = Mutex(SeededRandom(seed: 0))

    /// Takes over. There is no way back.
    static func install() {
        let implementation = UnsafeMutablePointer<randombytes_implementation>.allocate(capacity: 1)
        unsafe implementation.initialize(
            to: randombytes_implementation(
                implementation_name: { unsafe Randomness.name },
                random: { UInt32(truncatingIfNeeded: Randomness.next()) }, stir: nil, uniform: nil,
                buf: { bytes, count in unsafe Randomness.fill(bytes, count) }, close: nil))
        unsafe _ = randombytes_set_implementation(implementation)
        // It draws some for itself, once: not in the midst of the first schedule, which would then be another one.
        _ = sodium_init()
    }

    static func begin(_ seed: UInt64) { state.withLock { $0 = SeededRandom(seed: ~seed) } }

    private static func next() -> UInt64 { state.withLock { $0.next() } }

    private static func fill(_ bytes: UnsafeMutableRawPointer?, _ count: Int) {
        guard let bytes = unsafe bytes else { return }
        state.withLock { random in
            for index in 0..<count {
                unsafe bytes.storeBytes(
                    of: UInt8(truncatingIfNeeded: random.next() >> 32), toByteOffset: index, as: UInt8.self)
            }
        }
    }
}
