import Glibc

/// How many files and sockets this process may have open.
package enum FileLimit {
    /// Takes as many as the system allows without asking: a program that waits with `select` could not, and none here does.
    package static func raise() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
