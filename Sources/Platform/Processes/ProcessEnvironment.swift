import Glibc

/// The variables that this process was given. Read while nothing changes them.
package enum ProcessEnvironment {
    /// Each `NAME=value`.
    package static var variables: [String] {
        var variables: [String] = []
        var entry = unsafe environ
        while let pointer = unsafe entry.pointee {
            variables.append(unsafe String(cString: pointer))
            unsafe entry += 1
        }
        return variables
    }

    /// Nil if it is not set.
    package static func value(of name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Nil if it is not set, or empty.
    package static func nonEmptyValue(of name: String) -> String? {
        value(of: name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Takes it out, so that no child inherits it.
    ///
    /// - Parameter wipe: overwrites the value where the kernel shows it to others.
    package static func remove(_ name: String, wipe: (UnsafeMutableRawBufferPointer) -> Void) {
        if let value = unsafe getenv(name) {
            unsafe wipe(UnsafeMutableRawBufferPointer(start: value, count: strlen(value)))
        }
        unsafe _ = unsetenv(name)
    }
}
