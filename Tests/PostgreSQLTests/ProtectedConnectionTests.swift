import Foundation
import Glibc
import TestCertificates
import TestSupport
import Testing
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// Servers on other machines, with real certificates. 0.0.0.0 leads to this machine, and is none of its loopback names: so it
/// is treated as another one.
@Suite(.serialized)
struct ProtectedConnectionTests {
    private static let anywhere: [UInt8] = [0, 0, 0, 0]

    @Test func aServerWithACheckedCertificateIsUsed() async throws {
        let server = try TLSServer()
        let authority = try TestCertificate("authority")
        try server.show(TestCertificate("server", signedBy: authority, addresses: [Self.anywhere]))
        let root = try server.write(authority.pem, "root.pem")
        try await eventually { (try? server.connect(user: "bound", root: root)) != nil }
        let connection = try server.connect(user: "bound", root: root)
        let question = Statement(
            "SELECT ssl::int::int8, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()", isKept: false)
        let answer = try connection.answer(to: connection.send(question))
        #expect(answer.integer(0, 0) == 1)
        #expect(["TLSv1.2", "TLSv1.3"].contains(answer.text(0, 1)))
        // A whole vault, too.
        let store = try server.vault.open(at: server.address(user: "bound", root: root))
        #expect(store.ownsItsLock)
        await store.shutDown()
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        let server = try TLSServer()
        let authority = try TestCertificate("authority")
        try server.show(
            TestCertificate("server", signedBy: authority, hosts: ["db.example"], addresses: [[192, 0, 2, 1]]))
        try await server.expectRefusal(user: "bound", root: server.write(authority.pem, "root.pem"))
    }

    @Test func aCertificateOfAnotherAuthorityIsRefused() async throws {
        let server = try TLSServer()
        let authority = try TestCertificate("authority")
        try server.show(TestCertificate("server", signedBy: authority, addresses: [Self.anywhere]))
        let other = try TestCertificate("authority")
        try await server.expectRefusal(user: "bound", root: server.write(other.pem, "other.pem"))
    }

    @Test func aServerWithoutTLSIsRefused() async throws {
        let server = try TLSServer()
        try await server.expectRefusal(
            user: "bound", root: server.write(TestCertificate("authority").pem, "root.pem"))
    }

    /// The server says so with a word about SSL, which is no reason to doubt its certificate.
    @Test func aRoleThatTheServerDoesNotKnowIsRefusedAsSuch() async throws {
        let server = try TLSServer()
        let authority = try TestCertificate("authority")
        try server.show(TestCertificate("server", signedBy: authority, addresses: [Self.anywhere]))
        let root = try server.write(authority.pem, "root.pem")
        try await eventually { (try? server.connect(user: "bound", root: root)) != nil }
        try await server.expectRefusal(user: "stranger", root: root, because: "does not allow the database role")
    }

    /// Who can change the authorities can be the server.
    @Test func authoritiesThatOthersCanChangeAreRefused() async throws {
        let server = try TLSServer()
        let root = try server.write(TestCertificate("authority").pem, "root.pem")
        try #require(unsafe chmod(root, 0o666) == 0)
        let error = #expect(throws: StoreError.self) { try server.connect(user: "bound", root: root) }
        #expect(error?.code == .unsafeFile)
    }

    /// A server that does not prove that it knows the password could be anybody with a certificate.
    @Test(arguments: ["trusted", "plain"])
    func aServerThatDoesNotBindTheConnectionIsRefused(_ user: String) async throws {
        let server = try TLSServer()
        let authority = try TestCertificate("authority")
        try server.show(TestCertificate("server", signedBy: authority, addresses: [Self.anywhere]))
        let root = try server.write(authority.pem, "root.pem")
        try await eventually { (try? server.connect(user: "bound", root: root)) != nil }
        try await server.expectRefusal(user: user, root: root)
    }
}

/// A server that listens on TCP, with roles that prove themselves in different ways.
private final class TLSServer: Sendable {
    let vault: ServerVault
    private let port: UInt16
    private var directory: String { vault.server.directory }
    /// Not the server's, which may be another user's.
    private let own: PrivateDirectory

    init() throws {
        own = try PrivateDirectory()
        port = try Self.freePort()
        vault = try ServerVault(PostgreSQLServer(port: port))
        for role in ["bound", "trusted", "plain"] {
            try vault.sql("CREATE ROLE \(role) LOGIN SUPERUSER PASSWORD 'secret of \(role)'")
        }
        let rules = """
            local all all trust
            hostssl all bound 127.0.0.1/32 scram-sha-256
            hostssl all trusted 127.0.0.1/32 trust
            hostssl all plain 127.0.0.1/32 password
            hostnossl all all 127.0.0.1/32 scram-sha-256

            """
        let path = "\(directory)/data/pg_hba.conf"
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(rules.utf8))
        try file.close()
        try vault.sql("SELECT pg_reload_conf()")
    }

    private static func freePort() throws -> UInt16 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(number, address, length) == 0 && getsockname(number, address, &length) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }

    func write(_ text: String, _ name: String, for server: Bool = false) throws -> String {
        let path = server ? "\(directory)/\(name)" : own.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Lets the server use a certificate from now on.
    func show(_ certificate: TestCertificate) throws {
        var owner = stat()
        try #require(unsafe lstat("\(directory)/data", &owner) == 0)
        for (setting, name, text) in [
            ("ssl_cert_file", "server.crt", certificate.pem), ("ssl_key_file", "server.key", certificate.keyPEM),
        ] {
            let path = try write(text, name, for: true)
            try #require(unsafe chmod(path, 0o600) == 0 && chown(path, owner.st_uid, owner.st_gid) == 0)
            try vault.sql("ALTER SYSTEM SET \(setting) = '\(path)'")
        }
        try vault.sql("ALTER SYSTEM SET ssl = on")
        try vault.sql("SELECT pg_reload_conf()")
    }

    func address(user: String, root: String) throws -> ServerAddress {
        let password = "secret%20of%20\(user)"
        let address = try ServerAddress(
            "postgresql://\(user):\(password)@0.0.0.0:\(port)/postgres?sslrootcert=\(root)&schema=\(vault.address.schema)"
        )
        #expect(!address.isLocal)
        return address
    }

    func connect(user: String, root: String) throws -> ServerConnection {
        try ServerConnection(address(user: user, root: root))
    }

    /// Refused, and by no accident: the reason is that of protection.
    func expectRefusal(user: String, root: String, because reason: String = "no secure connection") async throws {
        // The server takes up its new settings when it has time to.
        try await Task.sleep(for: .milliseconds(500))
        let error = #expect(throws: StoreError.self) { try connect(user: user, root: root) }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains(reason) == true)
    }
}
