import Platform

/// A program of the operator's that answers lines with lines. It is started once, and ends with this value. Used by one
/// thread at a time.
///
/// No shell reads its arguments, and it inherits only its standard streams. Its standard error is discarded, because it
/// may quote its input.
package final class LineProgram {
    private let program: OperatorProgram
    private let longest: Int
    private var process = ChildProcess()
    /// The program's standard input; nil once it is closed.
    private var input: Descriptor?
    private let output: Descriptor
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
        let streams = try Self.streams(program)
        (input, output) = (streams.ours.input, streams.ours.output)
        do throws(SystemError) {
            try process.start(program.arguments, environment: program.environment, streams: streams.its)
        } catch {
            throw program.failed("cannot be started: \(error.wordsOfStart)")
        }
    }

    deinit {
        process.kill()
        wipe()
    }

    private static func streams(
        _ program: OperatorProgram
    ) throws(VaultCryptoError) -> (ours: (input: Descriptor, output: Descriptor), its: [Descriptor]) {
        do throws(SystemError) {
            let nowhere = try Descriptor("/dev/null", for: .writing)
            // A socket, because writing to a pipe that no one reads is a signal.
            let (given, printed) = (try SocketPair(), try Pipe())
            try given.other.stopWaiting()
            try printed.reading.stopWaiting()
            return ((given.other, printed.reading), [given.one, printed.writing, nowhere])
        } catch {
            throw program.failed("cannot be given its streams: \(error.text)")
        }
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
        input = nil
        let deadline = ContinuousClock.now + program.timeLimit
        while try read() {
            guard printed.isEmpty else { throw program.failed("printed more lines than it was given") }
            try wait(forRoom: false, until: deadline)
        }
        guard let status = process.exitCode(until: deadline) else { throw notInTime }
        guard status == 0 else { throw program.failed(OperatorProgram.end(status)) }
    }

    // MARK: Streams

    private func wait(forRoom: Bool, until deadline: ContinuousClock.Instant) throws(VaultCryptoError) {
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw notInTime }
        var wait = DescriptorWait(for: output.number, .readable)
        if forRoom, let input { wait.add(input.number, .writable) }
        let milliseconds = min(left.components.seconds * 1_000 + 1_000, 60_000)
        _ = try? wait.wait(milliseconds: Int32(milliseconds))
    }

    private func write(_ rest: inout ArraySlice<UInt8>) throws(VaultCryptoError) {
        guard let input else { return }
        do throws(SystemError) {
            let count = try unsafe rest.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
                try unsafe input.send(bytes)
            }
            rest = rest.dropFirst(count)
        } catch {
            switch error {
            case .wouldWait, .interrupted: return
            // Its end says that it reads no more.
            case .noReader: rest = []
            default: throw program.failed("does not take its input: \(error.text)")
            }
        }
    }

    /// Reads the available output; false once it has closed its output.
    private func read() throws(VaultCryptoError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { Self.wipe(&chunk) }
        while true {
            let count: Int
            do throws(SystemError) {
                count = try output.read(into: &chunk)
            } catch {
                if error == .wouldWait { return true }
                throw program.failed("cannot be read: \(error.text)")
            }
            if count == 0 { return false }
            printed += chunk[..<count]
            if count < chunk.count { return true }
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
        let code = process.exitCode(until: .now + .seconds(2))
        let how = code.map(OperatorProgram.end) ?? "closed its output"
        return program.failed("\(how) after \(count) of \(wanted) lines")
    }

    private var notInTime: VaultCryptoError {
        program.failed(
            "did not answer within \(program.timeLimit.components.seconds) s, and was stopped",
            hint: "it must write each answer out at once: flush its standard output after each line")
    }

    private func wipe() { Self.wipe(&printed) }

    private static func wipe(_ bytes: inout some MutableCollection<UInt8>) {
        for index in bytes.indices { bytes[index] = 0 }
    }
}
