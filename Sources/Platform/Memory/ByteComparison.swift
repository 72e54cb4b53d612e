import Glibc

/// Comparisons of bytes that are not secret, at the speed of the C library's.
package enum ByteComparison {
    /// Whether the two begin with the same `count` bytes. The time depends on where they differ.
    package static func areEqual(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Bool {
        unsafe memcmp(one, other, count) == 0
    }
}
