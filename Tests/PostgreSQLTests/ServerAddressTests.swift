import Testing
import VaultStorage

@testable import VaultPostgreSQL

/// Which connection strings are used, and what they become.
struct ServerAddressTests {
    private static func value(_ keyword: String, of address: ServerAddress) -> String? {
        address.parameters.first { $0.keyword == keyword }?.value
    }

    private static func refusal(_ text: String, schema: String? = nil) -> StoreError? {
        do throws(StoreError) {
            _ = try ServerAddress(text, schema: schema)
            return nil
        } catch { return error }
    }

    @Test func aServerElsewhereMustShowItsCertificate() throws {
        let address = try ServerAddress("postgresql://vault@db.example/app")
        #expect(Self.value("sslmode", of: address) == "verify-full")
        #expect(Self.value("channel_binding", of: address) == "require")
        #expect(!address.isLocal)
        for mode in ["disable", "allow", "prefer", "require", "verify-ca"] {
            let error = Self.refusal("postgresql://vault@db.example/app?sslmode=\(mode)")
            #expect(error?.code == .invalidValue, "\(mode)")
        }
        // One host elsewhere among several is enough.
        #expect(Self.refusal("postgresql://vault@127.0.0.1,db.example/app?sslmode=disable") != nil)
    }

    @Test(arguments: [
        "postgresql://vault@/app?host=/run/postgresql", "postgresql://127.0.0.1/app", "postgresql://localhost/app",
        "postgresql://[::1]/app", "host=/run/postgresql dbname=app",
    ])
    func thisMachineNeedsNoCertificate(_ text: String) throws {
        let address = try ServerAddress(text)
        #expect(address.isLocal)
        #expect(Self.value("sslmode", of: address) == "prefer")
    }

    /// Names and addresses that only look like this machine's.
    @Test(arguments: [
        "postgresql://127.evil.example/app", "postgresql://127.0.0.1.example/app", "postgresql://localhost.example/app",
        "postgresql://127.1/app", "postgresql://localhost/app?hostaddr=192.0.2.2", "postgresql://0.0.0.0/app",
        "postgresql://[::ffff:192.0.2.1]/app", "postgresql://127.0.0.1,db.example/app",
        "host=127.0.0.1,::1 hostaddr=127.0.0.1 dbname=app", "host=/run/postgresql hostaddr=192.0.2.2 dbname=app",
    ])
    func whatOnlyLooksLikeThisMachineIsAnotherOne(_ text: String) throws {
        let address = try ServerAddress(text)
        #expect(!address.isLocal)
        #expect(Self.value("sslmode", of: address) == "verify-full")
        let weakened = text.contains("://") ? text + (text.contains("?") ? "&" : "?") : text + " "
        #expect(Self.refusal(weakened + "sslmode=require")?.code == .invalidValue)
    }

    /// A service file may change while a connection is made.
    @Test func whatIsUsedMustBeWhatWasDecided() throws {
        let address = try ServerAddress("postgresql://db.example/app")
        func check(_ changes: [String: String]) throws {
            let decided = Dictionary(uniqueKeysWithValues: address.parameters.map { ($0.keyword, $0.value) })
            try address.requireAsDecided(address.merged.overridden(by: decided).overridden(by: changes))
        }
        try check([:])
        for (keyword, value) in [
            ("sslmode", "prefer"), ("options", "-c search_path=evil"), ("channel_binding", "disable"),
            ("hostaddr", "127.0.0.1"), ("gssencmode", "prefer"),
        ] {
            #expect(throws: StoreError.self, "\(keyword)") { try check([keyword: value]) }
        }
    }

    @Test func whatMattersToSafetyIsAlwaysGiven() throws {
        let address = try ServerAddress(
            "postgresql://db.example/app?gssencmode=prefer&target_session_attrs=any&application_name=x")
        #expect(Self.value("gssencmode", of: address) == "disable")
        #expect(Self.value("target_session_attrs", of: address) == "read-write")
        #expect(Self.value("tcp_user_timeout", of: address) == "5000")
        // Given only where something else sets any: a pooler refuses to be given them.
        #expect(Self.value("options", of: address) == nil)
        #expect(address.parameters.allSatisfy { !$0.value.isEmpty })
        for keyword in ["options=-cfsync%3Doff", "service=x", "replication=database"] {
            #expect(Self.refusal("postgresql://db.example/app?\(keyword)")?.code == .invalidValue, "\(keyword)")
        }
    }

    @Test func theSchemaComesFromTheStringOrTheCall() throws {
        #expect(try ServerAddress("postgresql:///app").schema == "tokenvault")
        #expect(try ServerAddress("postgresql:///app?schema=other&user=me").schema == "other")
        #expect(try ServerAddress("postgresql:///app?schema=other", schema: "third").schema == "third")
        for name in ["", "Upper", "with space", "9first", "pg_own", "a;b", "a\"b", String(repeating: "a", count: 64)] {
            #expect(Self.refusal("postgresql:///app", schema: name)?.code == .invalidValue, "\(name)")
        }
    }

    @Test func aPasswordIsNeverShown() throws {
        let text = "postgresql://vault:s3cret-canary@db.example:6000/app?schema=other"
        let address = try ServerAddress(text)
        #expect(address.holdsPassword)
        #expect(address.display == "postgresql://vault@db.example:6000/app?schema=other")
        for broken in ["postgresql://vault:s3cret-canary@db.example:x/app?nonsense=1", "postgresql://s3cret-canary%zz"]
        {
            let error = try #require(Self.refusal(broken))
            #expect(!"\(error)".contains("canary"))
        }
        #expect(
            try ServerAddress("postgresql://me@/app?host=/run/pg&port=6000").display
                == "postgresql://me@/app?host=/run/pg&port=6000")
    }
}
