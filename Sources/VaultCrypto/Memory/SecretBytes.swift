import CSodium
import Platform

/// A secret in ordinary memory: a token, a verifier, a client secret. No rendering shows it, and it is wiped when the
/// last copy is released. A `String` made from it is not wiped.
package struct SecretBytes: @unchecked Sendable, Redacted {
    /// Length and bytes in one allocation.
    private final class Storage: ManagedBuffer<Int, UInt8> {
        deinit {
            unsafe withUnsafeMutablePointers { count, bytes in
                unsafe sodium_memzero(bytes, count.pointee)
            }
        }
    }

    private let storage: Storage

    /// Allocates `count` bytes, which `fill` must write completely.
    package init<E: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        let buffer = Storage.create(minimumCapacity: count) { _ in count }
        storage = unsafe unsafeDowncast(buffer, to: Storage.self)
        try unsafe storage.withUnsafeMutablePointerToElements { bytes throws(E) in
            try unsafe fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
        }
    }

    package init(copying source: UnsafeRawBufferPointer) {
        unsafe self.init(count: source.count) { target in
            if unsafe !source.isEmpty { unsafe target.copyMemory(from: source) }
        }
    }

    package init(copying source: [UInt8]) {
        self = unsafe source.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
    }

    package init(utf8 string: String) {
        var string = string
        self = string.withUTF8 { unsafe SecretBytes(copying: UnsafeRawBufferPointer($0)) }
    }

    package var count: Int { storage.header }
    package var isEmpty: Bool { count == 0 }

    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try unsafe storage.withUnsafeMutablePointers { count, bytes in
            try unsafe body(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
        }
    }

    /// The secret as text, in memory that is not wiped; `nil` if it is not UTF-8.
    package func string() -> String? {
        unsafe withUnsafeBytes { bytes in
            // `String(validating:as:)` takes three times as long. Invalid UTF-8 decodes to a different string, which is
            // detected.
            var text = unsafe String(decoding: bytes, as: UTF8.self)
            let isExact = text.withUTF8 { decoded in
                guard let first = decoded.baseAddress, let second = bytes.baseAddress else {
                    return unsafe bytes.isEmpty
                }
                guard decoded.count == bytes.count else { return false }
                return unsafe ByteComparison.areEqual(first, second, bytes.count)
            }
            return isExact ? text : nil
        }
    }
}

extension SecretBytes: Equatable {
    /// Takes the same time wherever two secrets of equal length differ.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        if left.storage === right.storage { return true }
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return unsafe isSame(first.u8, second.u8, left.count)
            }
        }
    }

    /// Compares pieces of 64 bytes, which libsodium does ten times as fast as byte by byte.
    private static func isSame(_ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let piece = Int(crypto_verify_64_BYTES)
        let whole = count / piece * piece
        var difference: Int32 = 0
        for start in stride(from: 0, to: whole, by: piece) {
            difference |= unsafe crypto_verify_64(first + start, second + start)
        }
        return unsafe difference | sodium_memcmp(first + whole, second + whole, count - whole) == 0
    }
}
