import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// The index of what is due, without opening a cell.
struct DueLoginTests {
    @Test func theLongestDueComesFirstAndTheNextIsNamed() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        var handles: [LoginHandle] = []
        for (number, seconds) in [30, 10, 20, 40].enumerated() {
            var draft = fixture.draft("user-\(number)")
            draft.dueAt = fixture.now.advanced(by: .seconds(seconds))
            handles.append(try await store.insertLogin(draft).handle)
        }
        var never = fixture.draft("user-never")
        never.dueAt = nil
        _ = try await store.insertLogin(never)

        let page = try await store.dueLogins(before: fixture.now.advanced(by: .seconds(30)), limit: 10)
        #expect(page.logins.map(\.login) == [handles[1], handles[2], handles[0]])
        #expect(page.logins.allSatisfy { $0.hasRefreshCell && $0.provider == nil })
        #expect(page.cursor == nil)
        #expect(page.nextDueAt == fixture.now.advanced(by: .seconds(40)))
        let all = try await store.dueLogins(before: fixture.now.advanced(by: .seconds(99)), limit: 10)
        #expect(all.logins.count == 4)
        #expect(all.nextDueAt == nil)
    }

    @Test func pagesGiveEachLoginOnceAlsoThoseDueAtTheSameInstant() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        for number in 0..<25 {
            var draft = fixture.draft("user-\(number)")
            draft.dueAt = fixture.now.advanced(by: .seconds(number / 10))
            _ = try await store.insertLogin(draft)
        }
        var seen: [LoginHandle] = []
        var cursor: DueCursor?
        repeat {
            let page = try await store.dueLogins(
                before: fixture.now.advanced(by: .seconds(60)), after: cursor, limit: 4)
            seen += page.logins.map(\.login)
            cursor = page.cursor
        } while cursor != nil
        #expect(seen.count == 25)
        #expect(Set(seen).count == 25)
    }

    @Test func theHandleDecidesWhenThePlanSaysSo() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        var draft = fixture.draft("alice")
        let now = fixture.now
        draft.schedule = { login in now.advanced(by: .milliseconds(Int64(login.bytes.array[0]))) }
        let stored = try await store.insertLogin(draft)
        #expect(stored.dueAt == now.advanced(by: .milliseconds(Int64(stored.handle.bytes.array[0]))))
    }

    @Test(arguments: [Query.dueLogins.sql, Query.nextDue.sql])
    func neitherQuerySortsOrReadsTheWholeTable(_ sql: String) throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let connection = try Connection(path: fixture.path)
        try withExtendedLifetime(connection) {
            let plan = try Statement(connection, "EXPLAIN QUERY PLAN " + sql)
            var lines: [String] = []
            while try plan.step() { lines.append(plan.text(3)) }
            #expect(lines.count == 1)
            #expect(lines[0].hasPrefix("SEARCH login USING"))
            #expect(lines[0].contains("loginByDueAt"))
        }
    }
}
