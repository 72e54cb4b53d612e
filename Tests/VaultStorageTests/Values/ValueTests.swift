import Testing
import VaultCrypto

@testable import VaultStorage

struct ValueTests {
    @Test func handlesHaveOneTextEach() throws {
        for _ in 0..<100 {
            let handle = LoginHandle.random()
            #expect(handle.text.count == 26)
            #expect(LoginHandle(text: handle.text) == handle)
            #expect(LoginHandle(text: handle.text.uppercased()) == nil)
        }
        #expect(LoginHandle(text: "") == nil)
        #expect(LoginHandle(text: String(repeating: "a", count: 25) + "b") == nil)
        #expect(LoginHandle(text: String(repeating: "a", count: 26))?.bytes == .zero)
    }

    @Test func namesOfOneTransactionLieSideBySide() {
        var handles = HandleSource<LoginSubject>()
        let made = (0..<1_000).map { _ in handles.next() }
        #expect(Set(made).count == 1_000)
        #expect(Set(made.map(\.bytes.firstWord)).count == 1)
        #expect(Set(made.map(\.bytes.secondWord)).count == 1_000)
        var others = HandleSource<LoginSubject>()
        #expect(others.next().bytes.firstWord != made[0].bytes.firstWord)
    }

    @Test func instantsAreClampedAndRoundedUp() {
        let instant = Timestamp(milliseconds: 1000)
        #expect(instant.advanced(by: .milliseconds(-1500)) == Timestamp(milliseconds: -500))
        #expect(instant.advanced(by: .seconds(Int64.max)) == Timestamp(milliseconds: .max))
        // Whole seconds may fit where their fraction does not.
        let last = Timestamp(milliseconds: .max - 1_500)
        #expect(last.advanced(by: .milliseconds(1_999)) == Timestamp(milliseconds: .max))
        #expect(last.advanced(by: .milliseconds(1_500)) == Timestamp(milliseconds: .max))
        let first = Timestamp(milliseconds: .min + 1_500)
        #expect(first.advanced(by: .milliseconds(-1_999)) == Timestamp(milliseconds: .min))
        #expect(Timestamp(milliseconds: 5000).since(instant) == .seconds(4))
        #expect(LoginColumns.roundedUp(Timestamp(milliseconds: 60_001)) == Timestamp(milliseconds: 120_000))
        #expect(LoginColumns.roundedUp(Timestamp(milliseconds: 60_000)) == Timestamp(milliseconds: 60_000))
        #expect(LoginColumns.roundedUp(Timestamp(milliseconds: .max)) == Timestamp(milliseconds: .max))
    }

    @Test func auditKindsHaveNames() {
        #expect(AuditKind.renewed.name == "renewed")
        #expect(AuditKind(rawValue: 999).name == "kind999")
    }
}
