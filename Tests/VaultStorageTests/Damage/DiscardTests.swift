import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// What is damaged can be looked at and discarded, and then the vault is whole.
@Suite struct DiscardTests {
    /// Discards what there is, or puts providers with logins in place again, until nothing is damaged.
    private func discardAll(_ store: SQLiteVaultStore) async throws -> (discarded: Int, replaced: Int) {
        var (discarded, replaced) = (0, 0)
        while let row = try await store.damagedRows(limit: 1).first {
            let content = try await store.damagedRow(row.name)
            #expect(content.row == row)
            do {
                let done = try await store.discardDamagedRow(row.name)
                #expect(done.hash == content.hash && done.rowCount == content.rows.count)
                discarded += 1
            } catch let error as StoreError where error.code == .providerInUse {
                _ = try await store.putProvider(SampleVault.provider("again-\(row.name)"), replacingDamaged: row.name)
                replaced += 1
            }
            guard discarded + replaced < 20 else { break }
        }
        return (discarded, replaced)
    }

    @Test(arguments: DamagedVault.tables) func afterDiscardingTheVaultIsWhole(table: String) async throws {
        let image = try await DamagedVault.image()
        var (flips, discarded, replaced) = (0, 0, 0)
        for flip in try DamagedVault.flips(in: table, of: image) {
            let vault = try DamagedVault.layOut(image, flip)
            let store = try vault.open()
            defer { store.close() }
            await #expect(try !store.damagedRows(limit: 10).isEmpty, "\(flip)")
            let done = try await discardAll(store)
            let findings = try await store.verify().findings
            #expect(findings == [], "\(flip)")
            // Whoever has lost something can begin anew.
            for user in SampleVault.userIds {
                _ = try await store.insertLogin(SampleVault.draft(user: user, number: 9, provider: nil))
            }
            #expect(try await store.verify().isClean, "\(flip)")
            flips += 1
            discarded += done.discarded
            replaced += done.replaced
        }
        print("discarding \(table): \(flips) flips, \(discarded) rows discarded, \(replaced) replaced")
        #expect(flips > 4)
    }

    @Test func aRowThatOpensIsNotDiscarded() async throws {
        let vault = try await DamagedVault.image().layOut()
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.damagedRows(limit: 10).isEmpty)
        let database = try RawDatabase(vault.path)
        let login = try #require(try await store.user(SampleVault.oneLogin).logins.first)
        let code = StoreError.Code.conflict
        for name: DamagedRowName in [.handle(login.bytes), .row(.login, 1), .row(.provider, 1), .row(.outbox, 2)] {
            let error = await #expect(throws: StoreError.self) { try await store.discardDamagedRow(name) }
            #expect(error?.code == code, "\(name)")
            await #expect(throws: StoreError.self) { try await store.damagedRow(name) }
        }
        let unknown = DamagedRowName.handle(SecureRandom.bytes16())
        await #expect(throws: StoreError.notFound(.damagedRow)) { try await store.discardDamagedRow(unknown) }
        await #expect(throws: StoreError.notFound(.damagedRow)) { try await store.discardDamagedRow(.row(.outbox, 99)) }
        await #expect(throws: StoreError.self) { try await store.discardDamagedUser(SampleVault.oneLogin) }
        #expect(try database.integer("SELECT count(*) FROM login") == 10)
    }

    @Test func theTrailTellsWhatWasDiscardedAndWhatItMeant() async throws {
        let image = try await DamagedVault.image()
        let flip = DamagedVault.Flip(table: "login", column: "cell", row: 1, byte: 100)
        let vault = try DamagedVault.layOut(image, flip)
        let store = try vault.open()
        defer { store.close() }
        let row = try #require(try await store.damagedRows(limit: 10).first)
        #expect(row.userId == SampleVault.manyLogins[0] && row.login?.bytes == row.handle && row.provider != nil)
        let content = try await store.damagedRow(row.name)
        #expect(content.rows.map(\.table) == ["login", "loginSecret", "refreshIntent", "unusableReply"])
        let head = try await store.auditHead()
        let discarded = try await store.discardDamagedRow(row.name)
        #expect(discarded.logins.map(\.bytes) == [row.handle])
        let told = try await store.auditEntries(after: head, limit: 10)
        #expect(told.map(\.kind) == [.rowDiscarded, .loginRemoved])
        #expect(told.allSatisfy { $0.login?.bytes == row.handle && $0.user == row.user })
        #expect(told[0].value("table") == "login" && told[0].value("row") == row.name.description)
        #expect(told[0].value("hash") == Hexadecimal.text(content.hash))
        // The hash is of what lay there: of the very bytes.
        let lying = try RawDatabase(of: DamagedVault.layOut(image, flip))
        let cell = try lying.run("SELECT cell FROM login WHERE id = 1").first?.first
        let exported = content.rows[0].columns.first { $0.name == "cell" }?.value
        guard case .blob(let bytes)? = cell, case .blob(let copy)? = exported else {
            Issue.record("no cell")
            return
        }
        #expect(bytes == copy)
        // What is left of the user is as it was.
        #expect(try await store.user(SampleVault.manyLogins[0]).logins.count == 2)
        await #expect(throws: StoreError.notFound(.login)) { try await store.login(LoginHandle(row.handle ?? .zero)) }
    }

    @Test func aDamagedUserIsDiscardedByHisID() async throws {
        let image = try await DamagedVault.image()
        let flip = DamagedVault.Flip(table: "user", column: "cell", row: 1, byte: 100)
        let vault = try DamagedVault.layOut(image, flip)
        let store = try vault.open()
        defer { store.close() }
        let user = SampleVault.manyLogins[0]
        await #expect(throws: StoreError.self) { try await store.updateUser(user) { $0.isErased = true } }
        let discarded = try await store.discardDamagedUser(user)
        #expect(discarded.logins.count == 3 && discarded.rowCount == 1 + 3 + 3 + 1 + 3)
        await #expect(throws: StoreError.notFound(.user)) { try await store.user(user) }
        let kinds = try await store.auditEntries(after: 0, limit: 1_000).suffix(5).map(\.kind)
        #expect(kinds == [.rowDiscarded, .loginRemoved, .loginRemoved, .loginRemoved, .userErased])
        _ = try await store.insertLogin(SampleVault.draft(user: user, number: 0, provider: nil))
        #expect(try await store.session(.user(user)).session.accessToken != nil)
        #expect(try await store.verify().findings == [])
        let provider = try await store.provider(named: SampleVault.providerNames[0])
        #expect(try await store.dueOutboxEntries(at: Timestamp(milliseconds: .max), limit: 10).count == 2)
        #expect(provider.revision == 1)
    }

    @Test func aLoginWithoutARowIsForgotten() async throws {
        let vault = try await DamagedVault.image().layOut()
        try RawDatabase(vault.path).execute("DELETE FROM login WHERE id = 2; DELETE FROM loginSecret WHERE login = 2")
        let store = try vault.open()
        defer { store.close() }
        let missing = try #require(try await store.damagedRows(limit: 10).first { $0.userId != nil })
        #expect(missing.userId == SampleVault.manyLogins[0])
        _ = try await discardAll(store)
        #expect(try await store.user(SampleVault.manyLogins[0]).logins.count == 2)
        #expect(try await store.verify().findings == [])
    }

    /// Somebody with write access has copied a row: it is not the user's, and what he has stays.
    @Test func aPlantedLoginIsDiscardedAlone() async throws {
        let vault = try await DamagedVault.image().layOut()
        try RawDatabase(vault.path).execute(
            """
            INSERT INTO login SELECT 900, randomblob(16), user, provider, chain, generation, revision, incarnation,
                dueAt, expiresAt, refreshTag, keyTag, cell FROM login WHERE id = 1;
            """)
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.damagedRows(limit: 10).map(\.place) == [.row(.login, id: 900)])
        let revision = try await store.user(SampleVault.manyLogins[0]).revision
        #expect(try await store.discardDamagedRow(.row(.login, 900)).logins.isEmpty)
        #expect(try await store.user(SampleVault.manyLogins[0]).revision == revision)
        #expect(try await store.verify().findings == [])
    }

    @Test func rowsWithoutAReadableNameAreNamedByTheirNumber() throws {
        let names: [DamagedRowName] = [.row(.outbox, 17), .row(.login, -1), .handle(SecureRandom.bytes16())]
        for name in names { #expect(DamagedRowName(name.description) == name) }
        for text in ["", "outbox", "outbox#", "#1", "outbox#1#2", "trail#1", "vault#1", "outbox#x"] {
            #expect(DamagedRowName(text) == nil, "\(text)")
        }
    }
}
