import Foundation
import TestSupport

@testable import VaultImport

/// The moment of all tests: 2027-01-15T08:00:00Z.
let now = Date(timeIntervalSince1970: 1_800_000_000)

/// What the rows of a text are.
func outcomes(_ text: String, _ plan: ImportPlan = ImportPlan()) async throws -> [RowOutcome] {
    try await outcomes(Array(text.utf8), plan)
}

func outcomes(_ bytes: [UInt8], _ plan: ImportPlan = ImportPlan()) async throws -> [RowOutcome] {
    try await outcomes(ImportSource(bytes: bytes, plan: plan))
}

func outcomes(_ source: ImportSource) async throws -> [RowOutcome] {
    var found: [RowOutcome] = []
    for try await outcome in ImportReading(source, now: now) { found.append(outcome) }
    return found
}

extension RowOutcome {
    /// The name, and the reason of a reject.
    var words: String {
        if case .rejected(let reject) = self { "rejected: \(reject.reason.name)" } else { name }
    }

    var login: PlannedLogin? {
        switch self {
        case .login(let login), .update(let login, _), .dead(let login, _): login
        default: nil
        }
    }
}

/// One login in the canonical form.
func line(_ members: String...) -> String {
    let given = [#""user":"alice""#, #""provider":"acme""#, #""access_token":"access-1""#] + members
    return "{" + given.joined(separator: ",") + "}\n"
}

/// A database that a test fills with SQL.
struct SampleDatabase {
    let directory: PrivateDirectory
    let path: String
    let connection: RawConnection

    init(_ statements: String...) throws {
        directory = try PrivateDirectory()
        path = directory.file("source.sqlite3")
        try FileBytes.write([], to: path)
        connection = try RawConnection(path)
        for statement in statements { try connection.execute(statement) }
    }

    static let accounts =
        "CREATE TABLE accounts (userId TEXT, type TEXT, provider TEXT, providerAccountId TEXT, refresh_token TEXT,"
        + " access_token TEXT, expires_at INTEGER)"

    static func account(_ number: Int) -> String {
        "INSERT INTO accounts VALUES ('u\(number)', 'oauth', 'acme', 'a\(number)', 'refresh-\(number)', 'access-\(number)', 1800003600)"
    }
}
