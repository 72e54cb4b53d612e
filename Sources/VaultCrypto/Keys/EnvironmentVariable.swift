import CSodium
import Platform

/// A secret passed in an environment variable.
package enum EnvironmentVariable {
    /// Removes it from this process's environment, so that no child inherits it, and overwrites it where the kernel
    /// shows it to other processes.
    package static func forget(_ name: String) {
        unsafe ProcessEnvironment.remove(name) { value in
            if let start = value.baseAddress { unsafe sodium_memzero(start, value.count) }
        }
    }
}
