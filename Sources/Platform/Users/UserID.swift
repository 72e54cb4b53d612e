import Glibc

/// A user of this machine, by their number.
package struct UserID: Hashable, Sendable, CustomStringConvertible {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    /// The user of this name; nil if the machine knows none.
    package init?(named name: String) {
        var (entry, found) = unsafe (passwd(), nil as UnsafeMutablePointer<passwd>?)
        let number = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> UInt32? in
            guard let start = buffer.baseAddress,
                unsafe getpwnam_r(name, &entry, start, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            return unsafe entry.pw_uid
        }
        guard let number else { return nil }
        self.number = number
    }

    package static let root = UserID(0)

    /// Whose rights this process has.
    package static var current: UserID { UserID(geteuid()) }
    /// Who started this process.
    package static var real: UserID { UserID(getuid()) }

    package var isRoot: Bool { self == .root }
    package var description: String { String(number) }

    /// The user's name; nil if the machine knows none.
    package var name: String? {
        var (entry, found) = unsafe (passwd(), nil as UnsafeMutablePointer<passwd>?)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(number, &entry, start, buffer.count, &found) == 0, unsafe found != nil,
                let name = unsafe entry.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }
}
