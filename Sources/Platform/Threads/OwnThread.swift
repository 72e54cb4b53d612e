import Glibc

/// Starts threads outside of Swift's own.
package enum OwnThread {
    /// A database and Argon2id take some tens of KiB, and the bodies of callers an unknown amount. The C library's
    /// default follows `ulimit -s`, and is 128 KiB with some libraries.
    private static let stackByteCount = 2 * 1024 * 1024

    private final class Start: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new, detached thread. Returns false if the system provides none: then `body` never runs.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { unsafe attributes.deallocate() }
        guard unsafe pthread_attr_init(attributes) == 0 else { return false }
        defer { unsafe _ = pthread_attr_destroy(attributes) }
        guard unsafe pthread_attr_setstacksize(attributes, stackByteCount) == 0,
            unsafe pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED)) == 0
        else { return false }
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(Start(body))
        let status = unsafe pthread_create(
            &thread, attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        if status != 0 { unsafe argument.release() }
        return status == 0
    }
}
