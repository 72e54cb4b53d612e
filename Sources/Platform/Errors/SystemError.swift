import Glibc
import SystemPackage

/// What the operating system answers to a call that failed.
package struct SystemError: Error, Hashable, Sendable {
    /// The system's number (`errno`), which errors of the vault carry.
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    /// Of the call that has just failed.
    static var last: SystemError { SystemError(errno) }

    /// What swift-system throws.
    init(_ error: any Error) {
        switch error {
        case let error as SystemError: self = error
        case let error as Errno: self.init(error.rawValue)
        default: self = .inputOutput
        }
    }

    /// The system's own words, for the middle of a sentence.
    package var text: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0 else {
                return "error \(number)"
            }
            return unsafe String(cString: start).lowercased()
        }
    }
}
