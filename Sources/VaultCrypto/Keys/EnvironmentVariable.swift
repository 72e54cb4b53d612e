import CSodium
import Glibc

/// A secret passed in an environment variable.
package enum EnvironmentVariable {
    /// Removes it from this process's environment, so that no child inherits it, and overwrites it where the kernel
    /// shows it to other processes.
    package static func forget(_ name: String) {
        if let value = unsafe getenv(name) { unsafe sodium_memzero(value, strlen(value)) }
        unsafe _ = unsetenv(name)
    }
}
