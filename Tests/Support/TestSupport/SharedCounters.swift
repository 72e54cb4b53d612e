import Foundation
import Glibc
import Synchronization

/// Numbers in a file that several processes have mapped. Who reads a number sees what its writer did before.
@safe package final class SharedCounters: @unchecked Sendable {
    private let counters: UnsafeMutablePointer<Atomic<Int>>
    private let count: Int

    /// - Parameter path: a file, which is made if it is not there.
    package init(_ path: String, count: Int) throws {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(file) }
        let byteCount = count * MemoryLayout<Atomic<Int>>.stride
        guard ftruncate(file, byteCount) == 0,
            let start = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            unsafe start != UnsafeMutableRawPointer(bitPattern: -1)
        else { throw CocoaError(.fileReadUnknown) }
        unsafe counters = start.assumingMemoryBound(to: Atomic<Int>.self)
        self.count = count
    }

    deinit { unsafe _ = munmap(counters, count * MemoryLayout<Atomic<Int>>.stride) }

    package subscript(number: Int) -> Int {
        get {
            precondition((0..<count).contains(number))
            return unsafe counters[number].load(ordering: .acquiring)
        }
        set {
            precondition((0..<count).contains(number))
            unsafe counters[number].store(newValue, ordering: .releasing)
        }
    }
}
