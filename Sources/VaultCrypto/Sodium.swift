import CSodium

/// The only place that initialises libsodium.
package enum Sodium {
    private static let status = sodium_init()

    /// Initialises libsodium once per process. Everything that makes a key or draws randomness calls it.
    package static func initialize() throws(VaultCryptoError) {
        guard status >= 0 else {
            throw VaultCryptoError(.unavailable, "libsodium could not be initialised")
        }
    }

    /// Like ``initialize()``, for callers that cannot throw: only `sodium_init` makes the first use of libsodium by two
    /// threads safe. If it fails, no key can be made, so nothing can be sealed.
    @inline(__always)
    static func prepare() { _ = status }

    /// Whether a piece of a file is all zeros, however long it is.
    package static func areZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe sodium_is_zero(start.u8, bytes.count) == 1
        }
    }

    /// The version of the loaded libsodium, such as `1.0.18`.
    package static var version: String {
        unsafe String(cString: sodium_version_string())
    }
}
