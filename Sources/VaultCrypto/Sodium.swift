import CSodium

/// The one place where libsodium is initialised.
package enum Sodium {
    private static let status = sodium_init()

    /// Initialises libsodium once for the process. Everything that makes a key or draws randomness calls it.
    package static func initialize() throws(VaultCryptoError) {
        guard status >= 0 else {
            throw VaultCryptoError(.unavailable, "libsodium could not be initialised")
        }
    }

    /// As ``initialize()``, for those who cannot fail: libsodium's first use by two threads at once is safe only through
    /// `sodium_init`. Where that fails no key can be made, and so nothing can be sealed.
    @inline(__always)
    static func prepare() { _ = status }

    /// Whether there is nothing in a piece of a file, however long it is.
    package static func areZero(_ bytes: ArraySlice<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe sodium_is_zero(start.u8, bytes.count) == 1
        }
    }

    /// The version of the libsodium that is loaded, such as `1.0.18`.
    package static var version: String {
        unsafe String(cString: sodium_version_string())
    }
}
