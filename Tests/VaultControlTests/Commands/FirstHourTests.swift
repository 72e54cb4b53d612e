import DevAuthorizationServer
import Foundation
import Testing
import VaultAdministration
import VaultControl

/// An operator's first hour, with what can go wrong in it: the rows in `Tests/FirstHour`.
///
/// A row says what is there, what is typed, and what must be answered: the exit code, the first line, and the first hint.
struct FirstHourTests {
    private static let rooms = [
        "command-line", "ids-dates-tokens", "files", "server", "profiles", "machine", "import", "export", "by-hand",
        "wrong-inputs", "names-and-words", "serve",
    ]

    @Test(arguments: rooms)
    func whatIsTypedIsAnswered(_ room: String) async throws {
        let rows = try FirstHourRow.rows(of: room)
        try await FirstHour.with { world in
            for row in rows {
                let answer = try await world.answer(to: row)
                #expect(answer.code == row.code, "\(room):\(row.line): \(row.command)\n\(answer.error)")
                #expect(
                    row.first.matches(answer.first),
                    "\(room):\(row.line): \(row.command)\nexpected: \(row.first.text)\nanswered: \(answer.first)")
                for detail in row.details {
                    #expect(
                        answer.lines.contains { detail.matches($0) },
                        "\(room):\(row.line): \(row.command)\nexpected: \(detail.text)\nanswered: \(answer.error)")
                }
                #expect(!(answer.output + answer.error).unicodeScalars.contains(where: Self.isTerminalCommand))
            }
        }
        print("first hour: \(rows.count) rows of \(room)")
    }

    @Test func noRowIsLost() throws {
        let counts = try Self.rooms.map { try FirstHourRow.rows(of: $0).count }
        #expect(counts.reduce(0, +) >= 800, "\(counts)")
    }

    /// What moves the cursor, colours, or turns text around.
    private static func isTerminalCommand(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\t": false
        default:
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}

/// The machine on which rows are tried: what `Tests/FirstHour/world.sh` makes.
private struct FirstHour {
    struct Answer {
        let code: Int32
        let output: String
        let error: String
        /// The error, or what is said first.
        let first: String
        var lines: [String] { error.components(separatedBy: "\n") }
    }

    private let harness: Harness
    private let server: DevAuthorizationServer
    private let login: String
    private let slot: String

    static func with(_ body: (FirstHour) async throws -> Void) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.secretMarker = Harness.marker
        try await DevAuthorizationServer.withRunningServer(configuration) { server in
            let harness = try Harness()
            let script = FirstHourRow.directory + "/world.sh"
            let made = try await Program(harness: harness).shell(
                "issuer='\(server.issuer)' vaults='\(FirstHourRow.directory)/../Vaults' exec sh '\(script)'")
            try #require(made.status == 0, "\(made.error)")
            let bob = try await harness.run("login", "list", "--user", "bob").line
            let slot = try await harness.run("key", "list").line
            try await body(
                FirstHour(
                    harness: harness, server: server, login: String(bob.prefix { $0 != "\t" }),
                    slot: String(slot.prefix { $0 != "\t" })))
        }
    }

    func answer(to row: FirstHourRow) async throws -> Answer {
        var names = ["DIR": harness.directory, "ISSUER": server.issuer, "LOGIN": login, "SLOT": slot]
        if row.needsLogin { names["LOGIN"] = try await newLogin() }
        if (row.command + row.input).contains("STATE") { names["STATE"] = try await newState() }
        func filled(_ text: String) -> String {
            names.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }
        for file in row.files {
            try harness.file(file.name, filled(file.content), mode: file.mode)
        }
        for reply in row.replies {
            var fault = Fault.status(
                reply.status, headers: ["Content-Type": reply.contentType], body: filled(reply.body))
            fault.path = reply.path == "*" ? nil : reply.path
            fault.times = 20
            server.faults.add(fault)
        }
        defer { server.faults.removeAll() }
        let environment = harness.environment.merging(row.variables.mapValues(filled)) { $1 }
        let result = try await harness.run(
            row.arguments.map(filled), input: filled(row.input), environment: environment)
        func normal(_ text: String) -> String {
            names.reduce(text) { $0.replacing($1.value, with: $1.key) }.replacing(login, with: "LOGIN")
        }
        // What a slow machine is told while it counts.
        let lines = normal(result.error).components(separatedBy: "\n").filter { !$0.hasSuffix("--brief skips that") }
        let mark = "vaultctl: error: "
        let error = lines.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
        return Answer(
            code: result.status, output: result.output, error: normal(result.error),
            first: error ?? lines.first { !$0.isEmpty } ?? "")
    }

    private func newLogin() async throws -> String {
        let grant = try #require(server.issueGrant(user: "u", client: "demo"))
        return try await harness.run(
            ["login", "add", "--user", "u", "--provider", "acme", "--refresh-token", "-"],
            input: try #require(grant.refreshToken)
        ).line
    }

    private func newState() async throws -> String {
        let url = try await harness.run("login", "begin", "--user", "erin", "--provider", "acme").line
        let state = try #require(url.components(separatedBy: "state=").dropFirst().first)
        return String(state.prefix { $0 != "&" })
    }
}
