import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultPostgreSQL
@testable import VaultStorage

/// Rows that the operations of a batch ask for are fetched before the first of them runs.
struct PrefetchTests {
    private func batch(_ vault: ServerVault) -> ServerWriteBatch {
        ServerWriteBatch(vault.address, vault.store.context, .unknown)
    }

    private func label(_ login: LoginHandle, adding text: String) -> TestedOperation {
        TestedOperation(.rows(.login, login.bytes)) { transaction in
            try transaction.updateLogin(login) { $0.session.label = ($0.session.label ?? "") + text }
        }
    }

    @Test func aBatchOfAnySizeWaitsTwiceForTheServer() async throws {
        let vault = try ServerVault()
        var logins: [LoginHandle] = []
        for number in 0..<20 { logins.append(try await vault.store.insertLogin(vault.draft("u\(number)")).handle) }
        let batch = batch(vault)
        // The first transaction has to look at what others have written.
        batch.perform([label(logins[0], adding: "a")], committed: { _ in })
        let before = batch.roundTrips
        let operations = logins.map { label($0, adding: "b") }
        batch.perform(operations, committed: { _ in })
        #expect(batch.roundTrips - before == 2)
        #expect(operations.allSatisfy { $0.isStored == true })
        #expect(try await vault.store.login(logins[0]).session.label == "ab")
        #expect(try await vault.store.login(logins[19]).session.label == "b")
        #expect(try await vault.store.verify().findings == [])
    }

    /// Two processes that write in turn: what each looks at first comes in the same round trip as the lock.
    @Test func lookingAtWhatOthersWroteCostsNoJourneyOfItsOwn() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("a")).handle
        let (first, second) = (batch(vault), batch(vault))
        for _ in 0..<2 {
            for batch in [first, second] { batch.perform([label(login, adding: "x")], committed: { _ in }) }
        }
        let before = first.roundTrips
        first.perform([label(login, adding: "y")], committed: { _ in })
        #expect(first.roundTrips - before == 2)
        #expect(try await vault.store.login(login).session.label == "xxxxy")
    }

    @Test func operationSeesEarlierChangesOfItsBatch() async throws {
        let vault = try ServerVault()
        let login = try await vault.store.insertLogin(vault.draft("a")).handle
        let operations = ["1", "2", "3"].map { label(login, adding: $0) }
        batch(vault).perform(operations, committed: { _ in })
        #expect(operations.map(\.isStored) == [true, true, true])
        #expect(try await vault.store.login(login).session.label == "123")
        #expect(try await vault.store.verify().findings == [])
    }

    @Test func aUserWhomAnEarlierOperationMakesIsFound() async throws {
        let vault = try ServerVault()
        let draft = vault.draft("a")
        let first = TestedOperation(.rowsOfUser(.userByIndex, id: "a")) { _ = try $0.insertLogin(draft) }
        let second = TestedOperation(.rowsOfUser(.loginsOfUser, id: "a")) { transaction in
            guard try transaction.changeOnlyLogin(ofUserId: "a", { $0.session.label = "found" }) else {
                throw StoreError.notFound(.user)
            }
        }
        let third = TestedOperation(.rowsOfUser(.loginsOfUser, id: "a")) { transaction in
            try transaction.updateUser("a") { state in state.logins[0].isRemoved = true }
        }
        let last = TestedOperation(.rowsOfUser(.loginsOfUser, id: "a")) { transaction in
            let isFound = try transaction.changeOnlyLogin(ofUserId: "a", { _ in })
            if isFound { throw StoreError.notFound(.user) }
        }
        let operations = [first, second, third, last]
        batch(vault).perform(operations, committed: { _ in })
        #expect(operations.map(\.isStored) == [true, true, true, true])
        #expect(try await vault.store.verify().findings == [])
    }

    /// Answers that still hold are told from those that do not, whatever was changed: against the server's own word.
    @Test(arguments: 0..<12) func whatWasForeseenIsWhatWouldBeAnswered(seed: Int) async throws {
        let vault = try ServerVault()
        var logins: [LoginHandle] = []
        for number in 0..<4 { logins.append(try await vault.store.insertLogin(vault.draft("u\(number)")).handle) }
        let tables = ServerTables(try vault.connect(), vault.address, .unknown)
        let transaction = try WriteTransaction(tables, vault.store.context)
        var questions = (0..<6).map { number in
            BoundQuery(.loginsOfUser, .bytes(vault.store.context.keyring.blindIndex(ofUserId: "u\(number)").bytes))
        }
        questions += logins.map { BoundQuery(.login, .bytes($0.bytes)) }
        questions += logins.map { BoundQuery(.sessionOfLogin, .bytes($0.bytes)) }
        questions += [BoundQuery(.lastLink), BoundQuery(.vaultState)]
        try tables.beginWriting(questions)
        defer { tables.rollBack() }
        try transaction.begin()
        var random = Random(seed: seed)
        var (held, missed) = (0, 0)
        for _ in 0..<5 {
            try random.change(&logins, by: transaction, vault)
            for question in questions {
                let parameters = Parameters(question.parameters.map(\.value))
                let reach = try #require(question.query.reach)
                guard let known = tables.prefetchedResult(to: question.query, reach, parameters) else {
                    missed += 1
                    continue
                }
                held += 1
                let fresh = try tables.ask(question.query.statement, parameters)
                #expect(known.rows == fresh.rows)
            }
        }
        // Both must have been met, or nothing was shown.
        #expect(held > 0 && missed > 0)
    }
}

/// Random changes of a few logins, of every kind that touches the rows of logins.
private struct Random {
    private var state: UInt64

    init(seed: Int) { state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func change(
        _ logins: inout [LoginHandle], by transaction: WriteTransaction, _ vault: ServerVault
    ) throws {
        guard !logins.isEmpty else { return }
        let login = logins[next(logins.count)]
        switch next(6) {
        case 0: try transaction.updateLogin(login) { $0.session.label = "changed" }
        case 1: logins.append(try transaction.insertLogin(vault.draft("u\(next(6))")).handle)
        case 2:
            try transaction.updateLogin(login) { $0.isRemoved = true }
            logins.removeAll { $0 == login }
        case 3: try transaction.updateLogin(login) { _ = $0.openIntent(owner: 7, at: ServerVault.now) }
        case 4: try transaction.updateLogin(login) { $0.intent = nil }
        default:
            try transaction.updateLogin(login) { state in
                state.refresh = RefreshRecord(refreshToken: SecretBytes(utf8: "next"))
                state.position = state.position.successor
            }
        }
    }
}

extension ResultSet {
    fileprivate var rows: [[[UInt8]?]] {
        (0..<rowCount).map { row in
            (0..<columnCount).map { column in isNull(row, column) ? nil : unsafe Array(bytes(row, column)) }
        }
    }
}
