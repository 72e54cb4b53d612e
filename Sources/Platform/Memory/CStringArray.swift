import Glibc

/// Texts as C functions take lists of them: copies that end with a zero, and a null pointer at the end of the list.
@safe package final class CStringArray {
    private let count: Int
    private let start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    package init(_ texts: [String]) {
        count = texts.count
        unsafe start = .allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { unsafe (start + index).initialize(to: strdup(text)) }
        unsafe (start + texts.count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(start[index]) }
        unsafe start.deallocate()
    }

    /// The list must not outlive the call.
    package func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe body(UnsafeRawPointer(start).assumingMemoryBound(to: UnsafePointer<CChar>?.self))
    }

    /// For functions that take a list of texts which they may change.
    func withMutablePointers<R>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe body(start)
    }
}
