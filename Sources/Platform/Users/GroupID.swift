import Glibc

/// A group of this machine, by its number.
package struct GroupID: Hashable, Sendable, CustomStringConvertible {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    /// The group of this name; nil if the machine knows none.
    package init?(named name: String) {
        var (entry, found) = unsafe (group(), nil as UnsafeMutablePointer<group>?)
        let number = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { buffer -> UInt32? in
            guard let start = buffer.baseAddress,
                unsafe getgrnam_r(name, &entry, start, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            return unsafe entry.gr_gid
        }
        guard let number else { return nil }
        self.number = number
    }

    package var description: String { String(number) }
}
