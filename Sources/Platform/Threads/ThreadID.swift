import Glibc

/// A thread of this process, while it lives.
@safe package struct ThreadID: Equatable, @unchecked Sendable {
    private let thread: pthread_t

    package static var current: ThreadID { ThreadID(thread: pthread_self()) }

    package static func == (one: ThreadID, other: ThreadID) -> Bool {
        pthread_equal(one.thread, other.thread) != 0
    }
}
