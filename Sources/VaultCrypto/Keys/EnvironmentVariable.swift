import CSodium
import Platform

/// A secret that came in the environment.
package enum EnvironmentVariable {
    /// Takes it out of this process's environment, so that no child inherits it, and overwrites it where the kernel
    /// shows it to others.
    package static func forget(_ name: String) {
        unsafe ProcessEnvironment.remove(name) { value in
            if let start = value.baseAddress { unsafe sodium_memzero(start, value.count) }
        }
    }
}
