import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Parts of manifests that somebody without a key has put back, exchanged, taken away or added.
@Suite struct ManifestPartTests {
    private struct Scene {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        /// By the number of the part.
        var logins: [Int: [LoginHandle]] = [:]
        let bits: Int
        let bobs: [LoginHandle]

        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            let alices = try await Self.fill("alice", fixture, store)
            bobs = try await Self.fill("bob", fixture, store)
            let count = try fixture.integer("SELECT count(*) FROM manifestPart WHERE id >> 16 = 1")
            bits = count.trailingZeroBitCount
            for login in alices { logins[login.part(bits), default: []].append(login) }
        }

        private static func fill(
            _ user: String, _ fixture: VaultFixture, _ store: SQLiteVaultStore
        ) async throws -> [LoginHandle] {
            let drafts = (0..<200).map { _ in fixture.draft(user) }
            return try await store.write { transaction in try drafts.map { try transaction.insertLogin($0).handle } }
        }

        func renew(_ login: LoginHandle, _ label: String) async throws {
            try await store.updateLogin(login) { $0.session.label = label }
        }

        /// The rows as they are now, under other names.
        func keep() throws {
            try fixture.edit(
                "CREATE TABLE kept AS SELECT * FROM manifestPart; CREATE TABLE keptUser AS SELECT * FROM user")
        }

        func forget() throws { try fixture.edit("DROP TABLE IF EXISTS kept; DROP TABLE IF EXISTS keptUser") }

        /// Another process, which has read nothing yet: logins of these parts of alice do not open, and all others do.
        func expectRefused(_ parts: Set<Int>, isUserWhole: Bool = true, _ name: Comment) async throws {
            try forget()
            let other = try fixture.open()
            defer { other.close() }
            for (part, logins) in logins {
                let isRefused = parts.contains(part) || !isUserWhole
                for login in logins.prefix(2) {
                    if isRefused {
                        let error = await #expect(throws: StoreError.self, name) {
                            try await other.session(.login(login))
                        }
                        #expect(error?.isOfRow == true, name)
                        await #expect(throws: StoreError.self, name) { try await other.login(login) }
                        await #expect(throws: StoreError.self, name) {
                            try await other.updateLogin(login) { $0.session.label = "changed" }
                        }
                    } else {
                        #expect(try await other.session(.login(login)).login == login, name)
                    }
                }
            }
            #expect(try await other.session(.login(bobs[0])).login == bobs[0], name)
            let findings = try await other.verify().findings
            #expect(!findings.isEmpty, name)
            if isUserWhole { #expect(Set(findings.map(\.place)).isSubset(of: ["manifestPart", "login"]), name) }
        }
    }

    private static let part = "UPDATE manifestPart SET cell = (SELECT cell FROM kept WHERE kept.id = manifestPart.id)"

    @Test func aPartThatIsPutBackIsRefused() async throws {
        let scene = try await Scene()
        let login = try #require(scene.logins[1]?.first)
        try scene.keep()
        let kept = try scene.fixture.bytes("SELECT cell FROM kept WHERE id = 65537")
        try scene.forget()
        try await scene.renew(login, "later")
        #expect(try scene.fixture.bytes("SELECT cell FROM manifestPart WHERE id = 65537") != kept)
        let hex = kept.hex
        try scene.fixture.edit("UPDATE manifestPart SET cell = x'\(hex)' WHERE id = 65537")
        try await scene.expectRefused([1], "put back")
    }

    @Test(arguments: [
        ("exchanged", "0, 1", [0, 1]), ("of another user", "131072, 65536", [0]),
    ])
    func aPartInAnotherPlaceIsRefused(_ name: String, _ places: String, _ refused: [Int]) async throws {
        let scene = try await Scene()
        let (first, second) = name == "exchanged" ? (65_536, 65_537) : (65_536, 131_072)
        try scene.fixture.edit(
            """
            CREATE TABLE kept AS SELECT * FROM manifestPart;
            UPDATE manifestPart SET cell = (SELECT cell FROM kept WHERE id = \(second)) WHERE id = \(first);
            """)
        if name == "exchanged" {
            try scene.fixture.edit(
                "UPDATE manifestPart SET cell = (SELECT cell FROM kept WHERE id = \(first)) WHERE id = \(second)")
        }
        try await scene.expectRefused(Set(refused), "\(name)")
    }

    @Test func aPartThatIsTakenAwayIsMissed() async throws {
        let scene = try await Scene()
        try scene.fixture.edit("DELETE FROM manifestPart WHERE id = 65536")
        try await scene.expectRefused([0], "deleted")
    }

    @Test func partsThatWereAddedAreFound() async throws {
        let scene = try await Scene()
        let count = 1 << scene.bits
        try scene.fixture.edit(
            """
            INSERT INTO manifestPart SELECT 65536 + \(count), cell FROM manifestPart WHERE id = 65536;
            INSERT INTO manifestPart SELECT 9 * 65536, cell FROM manifestPart WHERE id = 65536;
            """)
        let other = try scene.fixture.open()
        defer { other.close() }
        let login = try #require(scene.logins[0]?.first)
        #expect(try await other.session(.login(login)).login == login)
        let findings = try await other.verify().findings
        #expect(findings.map(\.place) == ["manifestPart", "manifestPart"])
        let damaged = try await other.damagedRows(limit: 10)
        let added = [65_536 + Int64(count), 9 * 65_536].map { DamagedRow.Place.row(.manifestPart, id: $0) }
        #expect(damaged.map(\.place) == added)
        for row in damaged { #expect(try await other.discardDamagedRow(row.name).logins.isEmpty) }
        #expect(try await other.verify().findings == [])
    }

    /// The whole user as before, without what hangs on them; and the reverse.
    @Test func aFormerUserDoesNotFitTodaysParts() async throws {
        let scene = try await Scene()
        let login = try #require(scene.logins[0]?.first)
        let former = try scene.fixture.bytes("SELECT cell FROM user WHERE id = 1").hex
        let columns =
            "revision = \(try scene.fixture.integer("SELECT revision FROM user WHERE id = 1"))"
            + ", auditSequence = \(try scene.fixture.integer("SELECT auditSequence FROM user WHERE id = 1"))"
        let part = try scene.fixture.bytes("SELECT cell FROM manifestPart WHERE id = 65536").hex
        try await scene.renew(login, "later")
        let today = try scene.fixture.bytes("SELECT cell FROM manifestPart WHERE id = 65536").hex
        // Today's user, and the former part.
        try scene.fixture.edit("UPDATE manifestPart SET cell = x'\(part)' WHERE id = 65536")
        try await scene.expectRefused([0], "former part")
        // The former user, and today's part.
        try scene.fixture.edit(
            """
            UPDATE manifestPart SET cell = x'\(today)' WHERE id = 65536;
            UPDATE user SET cell = x'\(former)', \(columns) WHERE id = 1;
            """)
        let other = try scene.fixture.open()
        defer { other.close() }
        await #expect(throws: StoreError.self) { try await other.session(.login(login)) }
        let places = Set(try await other.verify().findings.map(\.place))
        #expect(places.isSuperset(of: ["user", "manifestPart"]), "\(places)")
    }

    /// From before the manifest was cut further, and from before it was cut at all.
    @Test(arguments: [10, 120]) func aFormerNumberOfPartsDoesNotFit(_ before: Int) async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        func add(_ count: Int) async throws -> [LoginHandle] {
            let drafts = (0..<count).map { _ in fixture.draft("alice") }
            return try await store.write { transaction in try drafts.map { try transaction.insertLogin($0).handle } }
        }
        let login = try #require(try await add(before).first)
        let former = try fixture.bytes("SELECT cell FROM user").hex
        let columns =
            "revision = \(try fixture.integer("SELECT revision FROM user"))"
            + ", auditSequence = \(try fixture.integer("SELECT auditSequence FROM user"))"
        _ = try await add(200)
        try await store.updateLogin(login) { $0.session.label = "later" }
        try fixture.edit("UPDATE user SET cell = x'\(former)', \(columns)")
        let other = try fixture.open()
        defer { other.close() }
        await #expect(throws: StoreError.self) { try await other.session(.login(login)) }
        let places = Set(try await other.verify().findings.map(\.place))
        #expect(places.isSuperset(of: ["user", "manifestPart"]), "\(places)")
    }

    // MARK: Discarding

    @Test(arguments: [
        "UPDATE manifestPart SET cell = zeroblob(length(cell)) WHERE id = 65537",
        "DELETE FROM manifestPart WHERE id = 65537",
    ])
    func aDamagedPartTakesItsLoginsAndNoOthers(_ damage: String) async throws {
        let scene = try await Scene()
        try scene.fixture.edit(damage)
        let other = try scene.fixture.open()
        defer { other.close() }
        let lost = Set(try #require(scene.logins[1]))
        let rows = try await other.damagedRows(limit: 1_000)
        #expect(rows.map(\.place) == [.row(.manifestPart, id: 65_537)])
        let row = try #require(rows.first)
        #expect(row.userId == "alice" && row.name.description == "manifestPart#65537")
        // Under the name of a login it is shown, and not discarded: others would go.
        let login = try #require(lost.first)
        #expect(try await other.damagedRow(.handle(login.bytes)).row == row)
        let error = await #expect(throws: StoreError.self) { try await other.discardDamagedRow(.handle(login.bytes)) }
        #expect(error?.code == .conflict)
        // The others are read, changed and listed meanwhile.
        let whole = try #require(scene.logins[0]?.first)
        try await other.updateLogin(whole) { $0.session.label = "x" }
        try await other.updateUser("alice") { $0.status = .disabled }
        try await other.updateUser("alice") { $0.status = .active }
        let listed = try await other.logins(ofUser: "alice", after: nil, limit: 1_000)
        #expect(Set(listed.filter { $0.damage != nil }.map(\.handle)) == lost && listed.count == 200)
        #expect(try await other.user("alice").logins.count == 200)
        await #expect(throws: StoreError.self) { try await other.replaceDataKey(ofUser: "alice") }
        let content = try await other.damagedRow(row.name)
        let discarded = try await other.discardDamagedRow(row.name)
        #expect(Set(discarded.logins) == lost && discarded.hash == content.hash)
        #expect(discarded.rowCount == content.rows.count)
        #expect(try await other.verify().findings == [])
        #expect(try await other.user("alice").logins.count == 200 - lost.count)
        let told = try await other.auditEntries(after: 0, limit: 2_000)
        #expect(told.count { $0.kind == .loginRemoved } == lost.count)
        #expect(told.first { $0.kind == .rowDiscarded }?.value("table") == "manifestPart")
        await #expect(throws: StoreError.notFound(.login)) { try await other.login(login) }
        try await other.updateUser("alice") { $0.isErased = true }
        #expect(try scene.fixture.integer("SELECT count(*) FROM manifestPart WHERE id >> 16 = 1") == 0)
        #expect(try await other.verify().findings == [])
    }

    /// A damaged user takes the parts along.
    @Test func aDiscardedUserLeavesNoParts() async throws {
        let scene = try await Scene()
        try scene.fixture.edit("UPDATE user SET cell = zeroblob(length(cell)) WHERE id = 1")
        let other = try scene.fixture.open()
        defer { other.close() }
        let discarded = try await other.discardDamagedUser("alice")
        #expect(discarded.logins.count == 200 && discarded.rowCount == 1 + 200 + 200 + (1 << scene.bits))
        #expect(try scene.fixture.integer("SELECT count(*) FROM manifestPart WHERE id >> 16 = 1") == 0)
        #expect(try await other.verify().findings == [])
    }

    @Test func onlyManyLoginsHaveParts() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.write { transaction in
            for _ in 0..<64 { _ = try transaction.insertLogin(fixture.draft("alice")) }
        }
        let whole = try fixture.integer("SELECT length(cell) FROM user")
        // Key, id, status, time, 64 entries of 40 bytes; a block's rest and 96 bytes.
        #expect(whole == 96 + (34 + 7 + 3 + 10 + 3 + 64 * 40) / 128 * 128 + 128)
        #expect(try fixture.integer("SELECT count(*) FROM manifestPart") == 0)
        _ = try await store.insertLogin(fixture.draft("alice"))
        #expect(try fixture.integer("SELECT count(*) FROM manifestPart") == 1)
        #expect(try fixture.integer("SELECT length(cell) FROM user") == 224)
    }
}
