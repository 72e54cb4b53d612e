import CProcess
import Glibc

/// Keeps the memory of this process to itself.
enum ProcessHardening {
    /// No core dump, and no other process of the same user may trace this one or read its memory and environment.
    ///
    /// Failing is not an error: the process then is as open as any other.
    static func apply() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = process_set_dumpable(0)
    }
}
