import Glibc

extension OpenDescriptor {
    /// Whether there is anything open under the number.
    package var isOpen: Bool { number >= 0 && fcntl(number, F_GETFD) >= 0 }

    /// Whether there is a person at the other end.
    package var isTerminal: Bool { isatty(number) == 1 }

    /// What it was opened for; nil if it is not open.
    package var purpose: OpeningPurpose? {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0 else { return nil }
        return switch flags & O_ACCMODE {
        case O_WRONLY: .writing
        case O_RDWR: .readingAndWriting
        default: .reading
        }
    }

    /// Neither reading nor writing waits from now on.
    package func stopWaiting() throws(SystemError) {
        guard fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) == 0 else { throw .last }
    }
}
