import CSodium
import Glibc

/// A secret that came in the environment.
package enum EnvironmentVariable {
    /// Takes it out of this process's environment, so that no child inherits it, and overwrites it where the kernel
    /// shows it to others.
    package static func forget(_ name: String) {
        if let value = unsafe getenv(name) { unsafe sodium_memzero(value, strlen(value)) }
        unsafe _ = unsetenv(name)
    }
}
