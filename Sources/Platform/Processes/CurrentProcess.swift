import Glibc

/// This process.
package enum CurrentProcess {
    /// Ends this process in good order.
    package static func exit(_ code: Int32) -> Never { Glibc.exit(code) }

    /// Ends this process at once: nothing that was registered for its end runs, and nothing is flushed.
    package static func exitAtOnce(_ code: Int32) -> Never { _exit(code) }
}
