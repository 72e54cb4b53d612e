import Foundation
import TestSupport
import Testing
import TokenVault
import VaultAdministration
import VaultControl
import VaultImport

/// A vault with providers that no server stands behind, and sources beside it.
struct ImportBench {
    let harness: Harness

    /// - Parameter providers: names, or `name=client-id`.
    static func with(_ providers: [String] = ["acme"], _ body: (ImportBench) async throws -> Void) async throws {
        let bench = ImportBench(harness: try Harness())
        try await bench.ok(["init"])
        for provider in providers { try await bench.add(provider) }
        try await body(bench)
    }

    func add(_ provider: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let parts = provider.split(separator: "=").map(String.init)
        try await ok(
            [
                "provider", "add", parts[0], "--client-id", parts.count > 1 ? parts[1] : "demo", "--token-endpoint",
                "https://127.0.0.1:1/token",
            ], sourceLocation: sourceLocation)
    }

    @discardableResult
    func ok(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> RunResult {
        let result = try await harness.run(arguments, sourceLocation: sourceLocation)
        #expect(result.status == 0, "\(arguments): \(result.error)", sourceLocation: sourceLocation)
        return result
    }

    /// What a run says of its rows, with the names of the outcomes that occurred, and of the reasons.
    @discardableResult
    func run(
        _ source: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: Int] {
        try await counts(["import", "run", source, "--json"] + options, sourceLocation)
    }

    /// The same for a check.
    func check(
        _ source: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: Int] {
        try await counts(["import", "check", source, "--json"] + options, sourceLocation)
    }

    private func counts(_ arguments: [String], _ sourceLocation: SourceLocation) async throws -> [String: Int] {
        let result = try await harness.run(arguments, sourceLocation: sourceLocation)
        let counts = try? Self.counts(result)
        return try #require(counts, "\(result.error)\(result.output)", sourceLocation: sourceLocation)
    }

    static func counts(_ result: RunResult) throws -> [String: Int] {
        let json = try result.json
        let outcomes = try #require(json["outcomes"] as? [String: Int])
        let reasons = try #require(json["reasons"] as? [String: Int])
        return outcomes.filter { $0.value > 0 && $0.key != "rejected" }.merging(reasons) { one, _ in one }
    }

    /// Runs a command that must fail, and gives what it says.
    func failure(
        _ source: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (code: String, text: String) {
        let arguments = ["import", "run", source] + options
        let result = try await harness.run(arguments, sourceLocation: sourceLocation)
        #expect(result.status != 0, "\(result.output)", sourceLocation: sourceLocation)
        let json = try await harness.run(arguments + ["--json"], sourceLocation: sourceLocation).json
        let error = json["error"] as? [String: Any]
        if let error { #expect(error["exitCode"] as? Int == Int(result.status), sourceLocation: sourceLocation) }
        let hints = (error?["hints"] as? [String])?.joined(separator: "\n") ?? ""
        return (error?["code"] as? String ?? "", result.error + hints)
    }

    /// What the vault has, by user; of a user with several logins the last.
    func logins() async throws -> [String: ExportedLogin] {
        Dictionary(try await allLogins().map { ($0.userId, $0) }) { _, last in last }
    }

    func allLogins() async throws -> [ExportedLogin] {
        let vault = try await Vault.open(in: try harness.location(), unlockedBy: .keyFile(harness.key))
        let page = try await vault.loginsToExport(ofUser: nil, provider: nil, after: nil, limit: 1_000)
        let logins = page.candidates.compactMap { candidate in
            if case .login(let login) = candidate { ExportedLogin(login) } else { nil }
        }
        await vault.close()
        return logins
    }

    func file(_ name: String, _ text: String) throws -> String { try harness.file(name, text) }

    func file(_ name: String, bytes: [UInt8]) throws -> String {
        let path = harness.path(name)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// A database of another system.
    func database(_ name: String, _ statements: String...) throws -> String {
        let path = harness.path(name)
        try FileBytes.write([], to: path)
        let connection = try RawConnection(path)
        for statement in statements { try connection.execute(statement) }
        return path
    }

    func connection(_ name: String) throws -> RawConnection { try RawConnection(harness.path(name)) }

    /// A line of the canonical form.
    static func line(
        _ user: String, subject: String? = nil, access: String? = nil, refresh: String? = nil,
        provider: String = "acme",
        _ more: String = ""
    ) -> String {
        var members = [#""user":"\#(user)""#, #""provider":"\#(provider)""#]
        for (name, value) in [("subject", subject), ("access_token", access), ("refresh_token", refresh)] {
            if let value { members.append(#""\#(name)":"\#(value)""#) }
        }
        if !more.isEmpty { members.append(more) }
        return "{" + members.joined(separator: ",") + "}\n"
    }
}
