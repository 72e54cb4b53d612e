import Glibc

/// The system's own sentence for an error number.
package enum SystemError {
    package static func text(_ error: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe strerror_r(error, start, buffer.count) == 0 else {
                return "error \(error)"
            }
            // Within a sentence.
            return unsafe String(cString: start).lowercased()
        }
    }
}
