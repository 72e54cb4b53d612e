import Glibc

/// The three streams of the program, and what is at their other ends.
package struct Console: Sendable {
    package enum Stream: Sendable {
        case output
        case error
    }

    let input: Int32
    let output: Int32
    let error: Int32
    var environment: [String: String]

    package init(input: Int32, output: Int32, error: Int32, environment: [String: String]) {
        self.input = input
        self.output = output
        self.error = error
        self.environment = environment
    }

    /// Whether a person types what is read.
    var inputIsTerminal: Bool { isatty(input) == 1 }

    func isTerminal(_ stream: Stream) -> Bool {
        isatty(descriptor(stream)) == 1
    }

    /// Colour, cursor movements and progress: for capable terminals, unless `NO_COLOR` is set (https://no-color.org).
    func isRich(_ stream: Stream) -> Bool {
        isTerminal(stream) && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The terminal's columns; 80 if it does not report them.
    var width: Int {
        var size = winsize()
        if unsafe ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return Int(size.ws_col)
        }
        return environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// Writes all of `text`.
    ///
    /// - Throws: ``OutputError``: `closed` when the reader has gone, as `head` does.
    func write(_ text: String, to stream: Stream) throws(OutputError) {
        try write(Array(text.utf8), to: stream)
    }

    /// Writes all bytes unchanged.
    func write(_ content: [UInt8], to stream: Stream) throws(OutputError) {
        var bytes = content[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor(stream), $0.baseAddress, $0.count)
            }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EPIPE {
                throw .closed
            } else if errno == EAGAIN {
                var poll = pollfd(fd: descriptor(stream), events: Int16(POLLOUT), revents: 0)
                _ = unsafe Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                throw errno == ENOSPC ? .full : errno == EBADF ? .notOpen : .failed
            }
        }
    }

    private func descriptor(_ stream: Stream) -> Int32 {
        switch stream {
        case .output: output
        case .error: error
        }
    }
}

/// Why output did not arrive.
enum OutputError: Error {
    case closed
    case full
    case notOpen
    case failed
}
