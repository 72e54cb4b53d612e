import CProcess
import Glibc

/// Keeps the memory of this process to itself.
package enum ProcessHardening {
    /// What the Swift runtime installs handlers for, where its backtracer is at hand: they would print registers and memory
    /// beside them, offer a debugger on the terminal, and let the process live on.
    private static let crashSignals = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// No core dump, no report of a crash, and no other process of the same user may trace this one or read its memory and
    /// environment.
    ///
    /// Failing is not an error: the process then is as open as any other.
    package static func apply() {
        _ = process_set_dumpable(0)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        for number in crashSignals { signal(number, SIG_DFL) }
    }
}
