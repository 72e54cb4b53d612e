import Glibc

/// The number of a process, which another may get once it has ended.
package struct ProcessID: Hashable, Sendable, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    package static var current: ProcessID { ProcessID(getpid()) }

    package var description: String { String(number) }
}
