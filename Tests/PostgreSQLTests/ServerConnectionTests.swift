import TestSupport
import Testing
import VaultStorage

@testable import VaultPostgreSQL

/// What one connection keeps, and what it forgets.
struct ServerConnectionTests {
    /// A statement that is gone must not lend its place in memory, and so its name, to another one.
    @Test func eachStatementIsItsOwn() throws {
        let connection = try ServerVault().connect()
        for number in 0..<200 {
            let text = Statement("SELECT $1 || '\(number)'", [.text])
            let sum = Statement("SELECT $1 + $2", [.integer, .integer])
            let answers = [
                try connection.send(text, Parameters([.text("a")])),
                try connection.send(sum, Parameters([.integer(Int64(number)), .integer(1)])),
            ]
            try connection.sync()
            #expect(try connection.answer(to: answers[0]).text(0, 0) == "a\(number)")
            #expect(try connection.answer(to: answers[1]).integer(0, 0) == Int64(number) + 1)
        }
    }

    @Test func aCommandThatFailsLeavesTheConnectionAsItIs() throws {
        let connection = try ServerVault().connect()
        let broken = Statement("SELECT no_such_column")
        let error = #expect(throws: StoreError.self) {
            try connection.send(broken)
            try connection.sync()
        }
        #expect(error?.code == .damaged)
        #expect(connection.end == nil)
        // What came behind it in the same breath was skipped, and is asked anew.
        let good = Statement("SELECT 7::int8")
        #expect(throws: StoreError.self) {
            try connection.send(broken)
            try connection.send(good)
            try connection.sync()
        }
        #expect(try connection.answer(to: connection.send(good)).integer(0, 0) == 7)
    }

    @Test func valuesComeBackAsTheyWent() throws {
        let connection = try ServerVault().connect()
        let echo = Statement("SELECT $1, $2, $3", [.integer, .text, .bytes])
        for (integer, text, bytes) in [
            (Int64.min, "", [UInt8]()), (-1, "é e\u{301} \u{1F511}", [0, 255, 0]), (.max, "'; DROP", Array(0...255)),
        ] {
            let answer = try connection.answer(
                to: connection.send(echo, Parameters([.integer(integer), .text(text), .bytes(bytes)])))
            #expect(answer.integer(0, 0) == integer)
            #expect(Array(answer.text(0, 1).utf8) == Array(text.utf8))
            #expect(unsafe Array(answer.bytes(0, 2)) == bytes && !answer.isNull(0, 2))
        }
        let none = try connection.answer(to: connection.send(echo, Parameters()))
        #expect((0..<3).allSatisfy { none.isNull(0, $0) })
    }

    /// A server that has no session left, or is about to start, is one to try again, in whatever language it says so.
    @Test func aServerWithoutAFreeSessionIsBusy() throws {
        let vault = try ServerVault()
        let role = "limited_\(vault.address.schema)"
        try vault.sql("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0")
        let address = try ServerAddress("postgresql://\(role)@/postgres?host=\(vault.server.directory)")
        let error = #expect(throws: StoreError.self) { try ServerConnection(address) }
        #expect(error?.code == .busy)
        #expect(error?.message == "the database server has no connection left for this process")
        try vault.sql("DROP ROLE \(role)")
    }

    /// A vault in a file can be read while its disk is full; one on a server cannot even be opened.
    @Test func aFullServerPromisesNoReading() {
        let error = ServerFailure(state: "53100").error
        #expect(error.code == .full && error.message == "the database server has no space left")
        #expect(error.hint?.contains("reading") == false)
    }

    /// Reads that wait for one vault hold up none of another.
    @Test func eachVaultHasThreadsOfItsOwn() async throws {
        let (slow, other) = (try ServerVault(), try ServerVault())
        let login = try await slow.store.insertLogin(slow.draft("alice")).handle
        let lock = try slow.connect()
        try lock.send(Statement("BEGIN", isKept: false))
        try lock.send(Statement(#"LOCK TABLE "login" IN ACCESS EXCLUSIVE MODE"#, isKept: false))
        try lock.sync()
        let reads = (0..<ServerReaders.limit).map { _ in Task { try? await slow.store.login(login) } }
        func waiting() throws -> Int64 {
            try other.sql(
                #"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\#(slow.address.schema)."login"'::regclass"#
            ).integer(0, 0)
        }
        try await eventually { try waiting() == ServerReaders.limit }
        let head = try await other.store.read(.nothing) { reader throws(StoreError) in try reader.auditHead() }
        #expect(head > 0)
        #expect(try waiting() == ServerReaders.limit)
        lock.close()
        for read in reads { _ = await read.value }
    }

    /// libpq's own words, where a connection ends before it is protected, and where it cannot be.
    @Test(arguments: [
        ("SSL SYSCALL error: EOF detected", StoreError.Code.busy),
        ("SSL SYSCALL error: Connection reset by peer", .busy),
        ("SSL error: unexpected eof while reading", .busy),
        ("SSL error: certificate verify failed", .readOnly),
        ("server does not support SSL, but SSL was required", .readOnly),
        ("SSL SYSCALL error: EOF detected\nSSL error: certificate verify failed", .readOnly),
    ])
    func aConnectionThatIsLostIsNoneThatIsUnprotected(message: String, code: StoreError.Code) {
        #expect(StoreError(refusal: "connection to server at \"db\", port 5432 failed: \(message)").code == code)
    }

    /// What no further attempt mends is not reported as a server that is out of reach.
    @Test(arguments: [
        ("definition of service \"web\" not found", StoreError.Code.invalidValue, "no service file"),
        ("service file \"/etc/none.conf\" not found", .invalidValue, "no service file"),
        ("server does not support SSL, but SSL was required", .readOnly, "does not speak TLS"),
    ])
    func aMistakeOfTheSettingsIsSaid(message: String, code: StoreError.Code, words: String) {
        let error = StoreError(refusal: message)
        #expect(error.code == code && error.message.contains(words), "\(error)")
    }

    /// Why a server is not reached is told apart, and each is one to try again.
    @Test(arguments: [
        ("could not translate host name \"db\" to address: Name or service not known", "its host name was not found"),
        ("connection to server at \"db\" (192.0.2.1), port 5432 failed: Connection refused", "nothing listens there"),
        ("connection to server on socket \"/run/.s.PGSQL.1\" failed: No such file or directory", "machine's socket"),
        ("connection to server at \"192.0.2.1\", port 5432 failed: timeout expired", "it does not answer"),
        ("something that no libpq has said yet", "cannot be reached"),
    ])
    func whyAServerIsNotReachedIsSaid(message: String, words: String) {
        let error = StoreError(refusal: message)
        #expect(error.code == .busy && error.message.hasSuffix(words) && error.hint != nil, "\(error)")
    }
}
