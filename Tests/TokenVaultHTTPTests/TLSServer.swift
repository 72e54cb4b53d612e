import Foundation

/// `openssl s_server` with a certificate made for this run.
final class TLSServer: Sendable {
    let port: UInt16
    let certificatePath: String
    private let directory: URL
    private let processIdentifier: Int32

    /// - Parameters:
    ///   - name: the host name in the certificate.
    ///   - options: further options of `openssl s_server`.
    static func start(certificateFor name: String, options: [String] = []) async throws -> TLSServer {
        // Foundation's Process blocks its caller; the threads of the tests' tasks are few.
        try await withCheckedThrowingContinuation { continuation in
            RawServer.detachThread {
                continuation.resume(with: Result { try TLSServer(certificateFor: name, options: options) })
            }
        }
    }

    private init(certificateFor name: String, options: [String]) throws {
        port = try RawServer.unusedPort()
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let key = directory.appending(path: "key.pem").path
        certificatePath = directory.appending(path: "certificate.pem").path
        let subjectName = name.allSatisfy { $0.isNumber || $0 == "." } ? "IP:\(name)" : "DNS:\(name)"
        let request = Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(subjectName)",
            "-keyout", key, "-out", certificatePath,
        ])
        try request.run()
        request.waitUntilExit()
        let process = Self.openssl(
            ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificatePath, "-key", key, "-www", "-quiet"]
                + options
        )
        try process.run()
        processIdentifier = process.processIdentifier
        waitUntilListening()
    }

    deinit {
        kill(processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(at: directory)
    }

    private func waitUntilListening() {
        for _ in 0..<200 {
            if (try? RawClient.connect(to: port)) != nil { return }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    private static func openssl(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardInput = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
