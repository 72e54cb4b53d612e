import Glibc

extension Console {
    /// Whether output goes into a pipe or terminal that no longer has a reader.
    var hasLostReader: Bool {
        var poll = pollfd(fd: output, events: 0, revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) > 0 && Int32(poll.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
    }
}
