import CProcess
import CSodium
import Glibc

/// A program of the operator's that answers lines with lines. It is started once, and ends with this value. Used by one
/// thread at a time.
///
/// No shell reads its arguments, and it inherits only its standard streams. Its standard error is discarded, because it
/// may quote its input.
package final class LineProgram {
    private let program: OperatorProgram
    private let longest: Int
    private var process: pid_t = 0
    private var input: Int32 = -1
    private var output: Int32 = -1
    /// Printed bytes that have not been consumed yet.
    private var printed: [UInt8] = []

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments.
    ///   - longest: the maximum length of a line that it prints.
    ///   - timeLimit: for the answer to each batch.
    package init(_ arguments: [String], longest: Int, timeLimit: Duration) throws(VaultCryptoError) {
        let environment = OperatorProgram.inheritedButOurs
        program = try OperatorProgram(arguments, environment: environment, timeLimit: timeLimit)
        self.longest = longest
        try program.check()
        try start()
    }

    deinit {
        end()
        wipe()
    }

    private func start() throws(VaultCryptoError) {
        var (toProgram, fromProgram): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [toProgram[0], fromProgram[1], nowhere] { Self.close(descriptor) } }
        guard nowhere >= 0,
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &toProgram) == 0,
            unsafe pipe2(&fromProgram, O_CLOEXEC) == 0
        else {
            let error = errno
            Self.close(toProgram[1])
            throw program.failed("cannot be given its streams: \(SystemError.text(error))")
        }
        (input, output) = (toProgram[1], fromProgram[0])
        for descriptor in [input, output] {
            guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0 else {
                throw program.failed("cannot be given its streams: \(SystemError.text(errno))")
            }
        }
        let failure = ProgramRun.spawn(
            program.arguments, program.environment, [toProgram[0], fromProgram[1], nowhere], &process)
        guard failure == 0 else { throw program.failed("cannot be started: \(SystemError.text(failure))") }
    }

    /// Sends it lines without line feeds, and returns one answer for each.
    package func answers(to lines: [[UInt8]]) throws(VaultCryptoError) -> [[UInt8]] {
        guard !lines.isEmpty else { return [] }
        var rest: ArraySlice<UInt8> = []
        for line in lines {
            rest += line
            rest.append(0x0A)
        }
        defer { Self.wipe(&rest) }
        var answers: [[UInt8]] = []
        let deadline = ContinuousClock.now + program.timeLimit
        while answers.count < lines.count {
            try wait(forRoom: !rest.isEmpty, until: deadline)
            if !rest.isEmpty { try write(&rest) }
            let isOpen = try read()
            try take(&answers, lines.count)
            guard isOpen || answers.count == lines.count else { throw ended(after: answers.count, of: lines.count) }
        }
        guard printed.isEmpty else { throw program.failed("printed more lines than it was given") }
        return answers
    }

    /// Closes its input. It must then exit by itself, with exit code 0.
    package func finish() throws(VaultCryptoError) {
        Self.close(input)
        input = -1
        let deadline = ContinuousClock.now + program.timeLimit
        while try read() {
            guard printed.isEmpty else { throw program.failed("printed more lines than it was given") }
            try wait(forRoom: false, until: deadline)
        }
        guard let status = ChildProcess.exitCode(of: &process, until: deadline) else { throw notInTime }
        guard status == 0 else { throw program.failed("ended with exit code \(status)") }
    }

    // MARK: Streams

    private func wait(forRoom: Bool, until deadline: ContinuousClock.Instant) throws(VaultCryptoError) {
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw notInTime }
        var polled = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
        if forRoom { polled.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
        let milliseconds = min(left.components.seconds * 1_000 + 1_000, 60_000)
        _ = unsafe poll(&polled, nfds_t(polled.count), Int32(milliseconds))
    }

    private func write(_ rest: inout ArraySlice<UInt8>) throws(VaultCryptoError) {
        // A socket, because writing to a pipe that has no reader raises a signal.
        let count = unsafe rest.withUnsafeBytes { unsafe send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count > 0 { rest = rest.dropFirst(count) }
        // If it stops reading, its exit reports that.
        guard count >= 0 || [EAGAIN, EINTR, EPIPE].contains(errno) else {
            throw program.failed("does not take its input: \(SystemError.text(errno))")
        }
        if count < 0, errno == EPIPE { rest = [] }
    }

    /// Reads the available output; false once it has closed its output.
    private func read() throws(VaultCryptoError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { Self.wipe(&chunk) }
        let size = chunk.count
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(output, $0.baseAddress, size) }
            if count == 0 { return false }
            guard count > 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { return true }
                throw program.failed("cannot be read: \(SystemError.text(errno))")
            }
            printed += chunk[..<count]
            if count < size { return true }
        }
    }

    private func take(_ answers: inout [[UInt8]], _ wanted: Int) throws(VaultCryptoError) {
        var start = printed.startIndex
        while answers.count < wanted, let end = printed[start...].firstIndex(of: 0x0A) {
            var line = printed[start..<end]
            if line.last == 0x0D { line.removeLast() }
            answers.append(Array(line))
            start = end + 1
        }
        printed.removeSubrange(..<start)
        guard printed.count <= longest, answers.allSatisfy({ $0.count <= longest }) else {
            throw program.failed("printed a line of more than \(longest) bytes")
        }
    }

    // MARK: Its end

    private func ended(after count: Int, of wanted: Int) -> VaultCryptoError {
        let code = ChildProcess.exitCode(of: &process, until: .now + .seconds(2))
        let how = code.map { "ended with exit code \($0)" } ?? "closed its output"
        return program.failed("\(how) after \(count) of \(wanted) lines")
    }

    private var notInTime: VaultCryptoError {
        program.failed(
            "did not answer within \(program.timeLimit.components.seconds) s, and was stopped",
            hint: "it must write each answer out at once: flush its standard output after each line")
    }

    private func end() {
        Self.close(input)
        Self.close(output)
        ChildProcess.kill(process)
    }

    private func wipe() { Self.wipe(&printed) }

    private static func wipe(_ bytes: inout some MutableCollection<UInt8>) {
        for index in bytes.indices { bytes[index] = 0 }
    }

    private static func close(_ descriptor: Int32) {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
    }
}
