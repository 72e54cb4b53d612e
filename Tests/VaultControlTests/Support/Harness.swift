import EngineSupport
import Foundation
import Glibc
import Platform
import Testing
import TokenVault
import VaultControl

/// What a run of the program left behind.
struct RunResult: Sendable {
    let status: Int32
    let output: String
    let error: String

    var json: [String: Any] {
        get throws {
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
            return try #require(object as? [String: Any])
        }
    }

    /// The output without its line break, as `$(…)` in a shell gives it.
    var line: String {
        output.hasSuffix("\n") ? String(output.dropLast()) : output
    }
}

/// A directory of one test, with a vault's path and key in it, and the program to be run on them.
final class Harness: Sendable {
    /// In every secret that a test makes. Nothing printed may hold it, unless it was asked for.
    static let marker = "CANARY-"

    let directory: String
    /// The path of the vault's file, or its connection string.
    let vault: String

    /// - Parameter server: The connection string of a vault on a server; nil: what ``TestEngine`` says.
    init(server: String? = nil) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "vaultctl-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.directory = directory
        vault = try server ?? TestVault.newAddress("app.vault", in: directory)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Where it lies, for what opens it beside the program.
    func location() throws -> VaultLocation { try TestVault.location(vault, in: directory) }

    var key: String { directory + "/app.key" }

    func path(_ name: String) -> String { directory + "/" + name }

    @discardableResult
    func file(_ name: String, _ content: String, mode: Int = 0o600) throws -> String {
        let path = path(name)
        try Data(content.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    var environment: [String: String] {
        ["TOKENVAULT_VAULT": vault, "TOKENVAULT_KEY_FILE": key, "TOKENVAULT_STATE_DIRECTORY": path("state")]
    }

    /// Nothing is kept in this user's own directory, whatever else a test sets.
    private func keepingHere(_ environment: [String: String]) -> [String: String] {
        environment.merging(["TOKENVAULT_STATE_DIRECTORY": path("state")]) { given, _ in given }
    }

    /// With where the vault lies, but without a key.
    func withPlaces(_ environment: [String: String]) -> [String: String] {
        keepingHere(environment.merging(["TOKENVAULT_VAULT": vault]) { given, _ in given })
    }

    /// Runs the program in this process, with pipes as its streams.
    @discardableResult
    func run(
        _ arguments: String..., input: String = "", environment: [String: String]? = nil, revealing: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        try await run(
            arguments, input: input, environment: environment, revealing: revealing, sourceLocation: sourceLocation)
    }

    @discardableResult
    func run(
        _ arguments: [String], input: String = "", environment: [String: String]? = nil, revealing: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        let streams = try ["in", "out", "err"].map { try Self.temporaryFile(in: directory, $0) }
        defer { streams.forEach { close($0) } }
        try Self.write(input, to: streams[0])
        let console = Console(
            input: BorrowedDescriptor(streams[0]), output: BorrowedDescriptor(streams[1]),
            error: BorrowedDescriptor(streams[2]),
            environment: environment.map { keepingHere($0) } ?? self.environment)
        let status = await CommandLineTool.run(arguments, on: console)
        let result = RunResult(
            status: status.rawValue, output: Self.content(streams[1]), error: Self.content(streams[2]))
        result.expectNoCanary(revealing: revealing, sourceLocation)
        return result
    }

    /// What `body` leaves on standard error.
    func output(_ body: (Console) async throws -> Void) async throws -> String {
        let streams = try ["in", "out", "err"].map { try Self.temporaryFile(in: directory, $0) }
        defer { streams.forEach { close($0) } }
        let ends = streams.map(BorrowedDescriptor.init)
        try await body(Console(input: ends[0], output: ends[1], error: ends[2], environment: [:]))
        return Self.content(streams[2])
    }

    private static func temporaryFile(in directory: String, _ name: String) throws -> Int32 {
        let path = directory + "/.\(name)-\(UUID().uuidString)"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        unsafe unlink(path)
        return descriptor
    }

    private static func write(_ text: String, to descriptor: Int32) throws {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.seek(toOffset: 0)
    }

    private static func content(_ descriptor: Int32) -> String {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try? handle.seek(toOffset: 0)
        return String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }
}

extension RunResult {
    /// Errors never hold a secret; the output only where it was asked for.
    func expectNoCanary(revealing: Bool, _ sourceLocation: SourceLocation) {
        #expect(!error.contains(Harness.marker), sourceLocation: sourceLocation)
        if !revealing {
            #expect(!output.contains(Harness.marker), sourceLocation: sourceLocation)
        }
        #expect(!(output + error).unicodeScalars.contains { $0.value == 0x1B }, sourceLocation: sourceLocation)
    }
}
