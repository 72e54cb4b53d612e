import Glibc

/// A part of a file as memory, shared with all that map the same part.
@safe package final class SharedMapping {
    private let start: UnsafeMutableRawPointer
    private let byteCount: Int

    /// The file's first bytes; nil if the file system cannot share them.
    package init?(of file: some OpenDescriptor, byteCount: Int) {
        let failed = unsafe UnsafeMutableRawPointer(bitPattern: -1)
        let mapped = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let start = unsafe mapped, unsafe start != failed else { return nil }
        unsafe self.start = start
        self.byteCount = byteCount
    }

    deinit { unsafe _ = munmap(start, byteCount) }

    package subscript(offset: Int) -> UInt8 {
        get {
            precondition((0..<byteCount).contains(offset))
            return unsafe start.load(fromByteOffset: offset, as: UInt8.self)
        }
        set {
            precondition((0..<byteCount).contains(offset))
            unsafe start.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self)
        }
    }
}
