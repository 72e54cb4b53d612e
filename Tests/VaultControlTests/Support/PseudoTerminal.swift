import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A person at a terminal, played by a test: runs the program on a pseudo terminal, waits for words, types answers.
final class PseudoTerminal: Sendable {
    private let primary: Int32
    private let secondary: Int32
    private let seen = Mutex("")
    private let ended = Mutex<Int32?>(nil)
    private let process: Mutex<Int32>

    init(_ arguments: [String], environment: [String: String]) throws {
        primary = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // What grantpt, unlockpt and ptsname do; Swift does not see these.
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        try #require(unsafe ioctl(primary, 0x4004_5431, &isLocked) == 0 && ioctl(primary, 0x8004_5430, &number) == 0)
        secondary = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(secondary >= 0)
        process = Mutex(0)
        let path = try #require(Program.path)
        try start(path, arguments, environment)
        readAlong()
    }

    deinit {
        close(primary)
        close(secondary)
    }

    /// Everything that appeared on the screen.
    var screen: String { seen.withLock { $0 } }

    /// Whether what is typed appears.
    var echoes: Bool {
        var state = termios()
        return unsafe tcgetattr(secondary, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Waits until `text` is on the screen after the last `count` of its appearances.
    func wait(for text: String, times: Int = 1) async throws {
        for _ in 0..<60_000 {
            if screen.components(separatedBy: text).count > times { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(text) did not appear; the screen says: \(screen)")
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(primary, $0.baseAddress, $0.count) }
    }

    func send(_ signal: Int32) {
        kill(process.withLock { $0 }, signal)
    }

    /// The exit code, 128 + number after a signal.
    func exitCode() async throws -> Int32 {
        for _ in 0..<60_000 {
            if let code = ended.withLock({ $0 }) {
                // What was written last may still be on its way.
                try await Task.sleep(for: .milliseconds(50))
                return code
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the program does not end; the screen says: \(screen)")
        send(SIGKILL)
        return -1
    }

    private func start(_ path: String, _ arguments: [String], _ environment: [String: String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        let terminal = FileHandle(fileDescriptor: secondary, closeOnDealloc: false)
        process.standardInput = terminal
        process.standardOutput = terminal
        process.standardError = terminal
        process.terminationHandler = { [weak self] process in
            self?.ended.withLock { $0 = process.exitCode }
        }
        try process.run()
        self.process.withLock { $0 = process.processIdentifier }
    }

    private func readAlong() {
        let primary = primary
        Thread.detachNewThread { [weak self] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(primary, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                self?.seen.withLock { $0 += String(decoding: bytes[..<count], as: UTF8.self) }
            }
        }
    }
}
