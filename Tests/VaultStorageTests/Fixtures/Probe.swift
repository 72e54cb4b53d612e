import Foundation
import TestSupport
import VaultStorage

/// A process of its own on the same vault.
final class Probe {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    convenience init(_ fixture: VaultFixture, user: String, logins: Int, rounds: Int) throws {
        try self.init([fixture.path, fixture.keyFile, user, "\(logins)", "\(rounds)"])
    }

    init(_ arguments: [String], program: String = "storage-probe") throws {
        process.executableURL = BuiltProgram.url(program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardInput = input
        try process.run()
    }

    /// A process that changes a login once; see the probe's `Visit`.
    convenience init(_ fixture: VaultFixture, visits login: LoginHandle, _ how: String) throws {
        try self.init(["visit", fixture.path, fixture.keyFile, login.text, how])
        if how == "linger" || how == "look" { _ = lines { $0.contains("ready") } }
    }

    var id: Int32 { process.processIdentifier }

    /// Lets it go on to its end.
    func release() -> Int32 {
        try? input.fileHandleForWriting.close()
        return wait()
    }

    /// Reads until a line makes `isEnough` true, or the process ends.
    func lines(until isEnough: ([String]) -> Bool = { _ in false }) -> [String] {
        var text = ""
        while true {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
            if isEnough(text.split(separator: "\n").map(String.init)) { break }
        }
        return text.split(separator: "\n").map(String.init)
    }

    func kill() -> [String] {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let rest = lines()
        process.waitUntilExit()
        return rest
    }

    /// Does not wait for the end: a fork of it would keep Foundation waiting.
    func killAlone() { Foundation.kill(process.processIdentifier, SIGKILL) }

    func goOn() { Foundation.kill(process.processIdentifier, SIGUSR1) }

    func stop() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
