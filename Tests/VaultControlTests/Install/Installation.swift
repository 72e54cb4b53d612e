import Foundation
import TestSupport
import Testing

/// What `scripts/install` makes of the built program, below a directory of one test.
struct Installation {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    let directory: PrivateDirectory
    let prefix: String

    init() async throws {
        directory = try PrivateDirectory()
        prefix = directory.path + "/usr"
        #expect(try await run().exitCode == 0)
    }

    /// Runs the script once more, with the same prefix.
    @discardableResult
    func run(_ options: String...) async throws -> ProgramRun {
        let program = try #require(Program.path)
        return try await ProgramRun(
            URL(filePath: Self.root + "/scripts/install"), ["--binary", program, "--prefix", prefix] + options)
    }

    /// Paths below the prefix.
    var files: Set<String> {
        let found = FileManager.default.enumerator(atPath: prefix)?.compactMap { $0 as? String } ?? []
        return Set(found.filter { !isDirectory($0) })
    }

    private func isDirectory(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: prefix + "/" + path)
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    func content(_ file: String) throws -> String {
        try String(contentsOfFile: prefix + "/" + file, encoding: .utf8)
    }

    func mode(_ file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: prefix + "/" + file)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}

/// A program of the system that a test needs, and that not every machine has.
enum SystemTool {
    static func path(_ name: String) -> String? {
        ["/usr/bin/", "/bin/"].map { $0 + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func run(_ name: String, _ arguments: [String]) async throws -> ProgramRun {
        try await ProgramRun(URL(filePath: try #require(path(name))), arguments)
    }
}
