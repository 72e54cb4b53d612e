import Foundation
import RawSockets
import Synchronization
import Testing

/// Variables of the environment and service files of libpq, against a server that asks everybody for a password in the
/// clear. 0.0.0.0 leads to this machine, and is none of its loopback names: so it is treated as another one.
struct ServerVariableTests {
    /// What leads elsewhere, and what would weaken the way there. `PORT` is the server's.
    private static let elsewhere: [(vault: String, variables: [String: String])] = [
        ("postgresql://vault@0.0.0.0:PORT/app", [:]),
        ("postgresql://vault@/app", ["PGHOST": "0.0.0.0", "PGPORT": "PORT"]),
        ("postgresql://vault@/app", ["PGHOST": "127.0.0.1,0.0.0.0", "PGPORT": "PORT"]),
        ("postgresql://vault@/app", ["PGHOSTADDR": "0.0.0.0", "PGPORT": "PORT"]),
        ("postgresql://vault@localhost:PORT/app", ["PGHOSTADDR": "0.0.0.0"]),
        ("postgresql://vault@127.0.0.1:PORT/app", ["PGHOSTADDR": "0.0.0.0"]),
        ("postgresql://vault@/app?host=/run/postgresql&port=PORT", ["PGHOSTADDR": "0.0.0.0"]),
        ("postgresql://vault@/app", ["PGSERVICE": "by-name", "PGSERVICEFILE": "FILE"]),
        ("postgresql://vault@localhost:PORT/app", ["PGSERVICE": "by-address", "PGSERVICEFILE": "FILE"]),
        ("postgresql://vault@/app", ["PGSERVICE": "by-name", "PGSYSCONFDIR": "DIRECTORY"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGSERVICE": "unprotected", "PGSERVICEFILE": "FILE"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGSSLMODE": "disable"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGREQUIRESSL": "0"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGSSLNEGOTIATION": "postgres", "PGSSLMODE": "allow"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGSSLCERT": "FILE", "PGSSLKEY": "FILE", "PGSSLMODE": "prefer"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGSSLROOTCERT": "/nowhere", "PGSSLMODE": "require"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGCHANNELBINDING": "disable", "PGREQUIREAUTH": "password"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGGSSENCMODE": "prefer", "PGREQUIREPEER": "nobody"]),
        ("postgresql://vault@0.0.0.0:PORT/app", ["PGOPTIONS": "-c search_path=evil"]),
        ("postgresql://vault@/app?sslmode=disable", ["PGHOST": "0.0.0.0", "PGPORT": "PORT"]),
        ("postgresql://vault@127.evil.example:PORT/app?sslmode=disable", ["PGHOSTADDR": "0.0.0.0"]),
    ]

    @Test(arguments: elsewhere.indices)
    func noPasswordGoesElsewhereInTheClear(_ row: Int) async throws {
        let (vault, variables) = Self.elsewhere[row]
        let server = try AskingServer()
        let run = try await server.initialise(vault, variables)
        #expect(server.passwords == 0, "\(vault) \(variables)")
        // Not even who wants what from which database.
        #expect(server.beginnings == [], "\(vault) \(variables)")
        #expect(run.status != 0 && !run.error.contains("s3cret"), "\(run.error)")
    }

    /// Which shows that the server would see one.
    @Test func thisMachineIsAskedWithoutTLS() async throws {
        let server = try AskingServer()
        let run = try await server.initialise(
            "postgresql://vault@127.0.0.1:PORT/app", ["PGOPTIONS": "-c search_path=evil"])
        #expect(server.passwords > 0 && run.status != 0)
        #expect(server.beginnings.allSatisfy { $0.contains("tokenvault") && !$0.contains("search_path") })
    }

    @Test func aServiceFileSetsNoOptions() async throws {
        let server = try AskingServer()
        try await server.initialise(
            "postgresql://vault@127.0.0.1:PORT/app", ["PGSERVICE": "options", "PGSERVICEFILE": "FILE"])
        #expect(!server.beginnings.isEmpty)
        #expect(server.beginnings.allSatisfy { !$0.contains("search_path") })
        let refused = try AskingServer()
        let run = try await refused.initialise(
            "postgresql://vault@127.0.0.1:PORT/app", ["PGSERVICE": "replication", "PGSERVICEFILE": "FILE"])
        #expect(refused.beginnings == [] && run.error.contains("replication"), "\(run.error)")
    }
}

/// Says that it has no TLS, and asks for a password.
private final class AskingServer: Sendable {
    private final class Heard: Sendable {
        let passwords = Atomic(0)
        let beginnings = Mutex<[String]>([])
    }

    private let heard = Heard()
    private let server: RawServer
    private let harness: Harness

    var passwords: Int { heard.passwords.load(ordering: .sequentiallyConsistent) }
    /// What came in the clear before the password.
    var beginnings: [String] { heard.beginnings.withLock { $0 } }

    init() throws {
        let heard = heard
        harness = try Harness(server: "postgresql://unused")
        server = try RawServer { connection in
            while let bytes = connection.readBytes() {
                // SSLRequest and GSSENCRequest (protocol, 55.7).
                if bytes.count == 8, bytes[4...6] == [4, 210, 22] {
                    connection.write("N")
                } else if bytes.first == UInt8(ascii: "p") {
                    heard.passwords.add(1, ordering: .sequentiallyConsistent)
                    return
                } else {
                    heard.beginnings.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                    connection.write([UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 3])
                }
            }
        }
    }

    @discardableResult
    func initialise(_ vault: String, _ variables: [String: String]) async throws -> RunResult {
        let services = """
            [by-name]
            host=0.0.0.0
            port=\(server.port)
            [by-address]
            hostaddr=0.0.0.0
            [unprotected]
            sslmode=disable
            gssencmode=disable
            channel_binding=disable
            [options]
            options=-c search_path=evil
            [replication]
            replication=database

            """
        let file = try harness.file("pg_service.conf", services)
        func filled(_ text: String) -> String {
            text.replacing("PORT", with: "\(server.port)").replacing("FILE", with: file)
                .replacing("DIRECTORY", with: harness.directory)
        }
        var script = variables.map { "export \($0.key)='\(filled($0.value))'" }
        script.append("export PGPASSWORD=s3cret")
        script.append(#"exec "$vaultctl" init --vault '\#(filled(vault))' --key-file "$dir/server.key""#)
        return try await Program(harness: harness).shell(script.joined(separator: "\n"))
    }
}
