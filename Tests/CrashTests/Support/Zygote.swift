import Foundation
import Synchronization
import TestSupport
import Testing

/// A `crash-probe` that waits for jobs. It does one at a time, each in a process of its own.
final class Zygote: Sendable {
    private let process: Process
    private let input: FileHandle
    private let output: Int32
    private let outputPipe: Pipe
    private let buffer = Mutex<[UInt8]>([])
    /// The process at work, if there is one.
    private let current = Mutex<Int32>(0)
    /// Reads block.
    private let queue = DispatchQueue(label: "crash-probe")

    init() throws {
        process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = BuiltProgram.url("crash-probe")
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.input = input.fileHandleForWriting
        outputPipe = output
        self.output = output.fileHandleForReading.fileDescriptor
    }

    deinit {
        // A test that failed leaves jobs that nobody would end.
        let pid = current.withLock { $0 }
        if pid > 0 { kill(pid, SIGKILL) }
        try? input.close()
    }

    /// Begins a job. The one before must have ended.
    func start(_ job: String, _ options: [String: String]) async throws -> Job {
        let line = ([job] + options.map { "\($0.key)=\($0.value)" }).joined(separator: " ") + "\n"
        try input.write(contentsOf: Data(line.utf8))
        let first = await nextLine()
        guard let first, first.hasPrefix("+pid "), let pid = Int32(first.dropFirst(5)) else {
            throw Unexpected(line: first)
        }
        current.withLock { $0 = pid }
        return Job(zygote: self, pid: pid)
    }

    struct Unexpected: Error { let line: String? }

    /// Nil when the probe is gone.
    fileprivate func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.readLine()) }
        }
    }

    private func readLine() -> String? {
        while true {
            let line = buffer.withLock { buffer -> String? in
                guard let end = buffer.firstIndex(of: 10) else { return nil }
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            if let line {
                if line.hasPrefix("+exit") || line.hasPrefix("+signal") { current.withLock { $0 = 0 } }
                return line
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            buffer.withLock { $0 += bytes[..<count] }
        }
    }
}

/// One process at work.
final class Job: Sendable {
    enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
        case stopped
    }

    let pid: Int32
    private let zygote: Zygote
    private let said = Mutex<[String]>([])

    init(zygote: Zygote, pid: Int32) {
        self.zygote = zygote
        self.pid = pid
    }

    /// What it has said so far.
    var lines: [String] { said.withLock { $0 } }

    /// Until it has ended or was stopped.
    func wait() async throws -> End {
        while let line = await zygote.nextLine() {
            if let end = Self.end(line) { return end }
            said.withLock { $0.append(line) }
        }
        throw Lost()
    }

    /// Until it says this. False if it ends before.
    func wait(for line: String) async throws -> Bool {
        while let next = await zygote.nextLine() {
            if Self.end(next) != nil { return false }
            said.withLock { $0.append(next) }
            if next == line { return true }
        }
        throw Lost()
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// The numbers behind a word.
    func numbers(_ word: String) -> [Double] {
        lines.last { $0.hasPrefix("\(word) ") }?.split(separator: " ").dropFirst().compactMap { Double($0) } ?? []
    }

    struct Lost: Error {}

    private static func end(_ line: String) -> End? {
        guard line.hasPrefix("+") else { return nil }
        if line == "+stopped" { return .stopped }
        let words = line.split(separator: " ")
        guard words.count == 2, let number = Int32(words[1]) else { return nil }
        return words[0] == "+exit" ? .exit(number) : .signal(number)
    }
}
