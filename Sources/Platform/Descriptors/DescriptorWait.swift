import Glibc

/// A wait until something can be read or written.
package struct DescriptorWait {
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int16

        package init(rawValue: Int16) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: Int16(POLLIN))
        package static let writable = Events(rawValue: Int16(POLLOUT))
        /// No one is at the other end, or nothing is open. Never awaited, always reported.
        package static let gone = Events(rawValue: Int16(POLLERR | POLLHUP | POLLNVAL))
    }

    private var entries: [pollfd] = []

    package init() {}

    package init(for number: Int32, _ events: Events) { add(number, events) }

    /// - Parameter number: of a descriptor; a negative one is never ready.
    package mutating func add(_ number: Int32, _ events: Events) {
        entries.append(pollfd(fd: number, events: events.rawValue, revents: 0))
    }

    /// Waits for the first of them. Gives how many are ready: 0 after that time, or if a signal came.
    ///
    /// - Parameter milliseconds: nil: for as long as it takes.
    @discardableResult
    package mutating func wait(milliseconds: Int32?) throws(SystemError) -> Int {
        let ready = unsafe poll(&entries, nfds_t(entries.count), milliseconds ?? -1)
        if ready < 0, errno != EINTR { throw .last }
        return Int(max(0, ready))
    }

    /// What has happened at each that is ready.
    package var ready: [(number: Int32, events: Events)] {
        entries.filter { $0.revents != 0 }.map { ($0.fd, Events(rawValue: $0.revents)) }
    }
}
