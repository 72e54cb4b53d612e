package import Platform

/// The three streams of the program, and what is at their other ends.
package struct Console: Sendable {
    package enum Stream: Sendable {
        case output
        case error
    }

    let input: BorrowedDescriptor
    let output: BorrowedDescriptor
    let error: BorrowedDescriptor
    var environment: [String: String]

    package init(
        input: BorrowedDescriptor, output: BorrowedDescriptor, error: BorrowedDescriptor, environment: [String: String]
    ) {
        self.input = input
        self.output = output
        self.error = error
        self.environment = environment
    }

    /// Whether a person types what is read.
    var inputIsTerminal: Bool { input.isTerminal }

    func isTerminal(_ stream: Stream) -> Bool {
        descriptor(stream).isTerminal
    }

    /// Colour, cursor movements and progress: for capable terminals, unless `NO_COLOR` is set (https://no-color.org).
    func isRich(_ stream: Stream) -> Bool {
        isTerminal(stream) && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The terminal's columns; 80 if it does not report them.
    var width: Int {
        output.columns ?? environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// Writes all of `text`.
    ///
    /// - Throws: ``OutputError``: `closed` when the reader has gone, as `head` does.
    func write(_ text: String, to stream: Stream) throws(OutputError) {
        try write(Array(text.utf8), to: stream)
    }

    /// Writes all bytes unchanged.
    func write(_ content: [UInt8], to stream: Stream) throws(OutputError) {
        let descriptor = descriptor(stream)
        var bytes = content[...]
        while !bytes.isEmpty {
            do throws(SystemError) {
                let count = try descriptor.write(bytes)
                bytes = bytes.dropFirst(count)
            } catch {
                switch error {
                case .noReader: throw .closed
                case .wouldWait:
                    var wait = DescriptorWait(for: descriptor.number, .writable)
                    _ = try? wait.wait(milliseconds: nil)
                case .noSpace: throw .full
                case .notOpen: throw .notOpen
                default: throw .failed
                }
            }
        }
    }

    private func descriptor(_ stream: Stream) -> BorrowedDescriptor {
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
