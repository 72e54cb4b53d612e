import Testing

@testable import VaultImport

/// JSON Lines and CSV, to the letter.
struct TextFormatTests {
    @Test func aCarriageReturnBeforeTheLineFeedDoesNotMatter() async throws {
        let found = try await outcomes(line().replacing("\n", with: "\r\n") + line(#""subject":"2""#))
        #expect(found.map(\.words) == ["login", "login"])
        #expect(found.map(\.place.row) == [1, 2])
    }

    @Test func theLastLineNeedsNoLineFeed() async throws {
        let found = try await outcomes(line() + String(line(#""label":"x""#).dropLast()))
        #expect(found.map { $0.login?.source.label } == [nil, "x"])
    }

    @Test func aLineSeparatorOfUnicodeIsData() async throws {
        let found = try await outcomes(line("\"label\":\"a\u{2028}b\u{85}c\""))
        #expect(found.map { $0.login?.source.label } == ["a\u{2028}b\u{85}c"])
    }

    @Test func aByteOrderMarkAndBlankLinesAreNothing() async throws {
        let found = try await outcomes("\u{FEFF}" + line() + "\n \t\r\n" + line(#""label":"x""#))
        #expect(found.map(\.place.row) == [1, 4])
    }

    @Test(arguments: [
        ("{\"user\":", "notJSON"), ("nonsense", "notJSON"), ("[1]", "notAnObject"), ("\"x\"", "notAnObject"),
        ("{} {}", "notJSON"),
        ("{\"user\":\"a\",\"user\":\"b\",\"provider\":\"p\",\"access_token\":\"t\"}", "ambiguousMember"),
    ])
    func aBadLineIsARejectAndNotTheEnd(_ bad: String, _ reason: String) async throws {
        let found = try await outcomes(line() + bad + "\n" + line(#""label":"x""#))
        #expect(found.map(\.words) == ["login", "rejected: \(reason)", "login"])
        #expect(found[1].place.row == 2)
    }

    @Test func aLineThatIsTooLongIsPassedOver() async throws {
        var plan = ImportPlan()
        plan.limits.recordBytes = 200
        let long = line("\"label\":\"\(String(repeating: "l", count: 200))\"")
        let found = try await outcomes(line() + long + line(#""label":"x""#), plan)
        #expect(found.map(\.words) == ["login", "rejected: tooLong", "login"])
    }

    @Test func anOddFirstLineHidesNothing() async throws {
        let found = try await outcomes("{\"user\":\n{\"user\":\"bob\"}\n" + line())
        #expect(found.map(\.words) == ["rejected: notJSON", "rejected: noToken", "login"])
    }

    @Test func csvKeepsEverythingAsItStands() async throws {
        let text =
            "\u{FEFF}user,provider,access_token,label\r\n007,acme,a-1, x \r\n\"a\"\"b\",acme,\"a,2\",\"two\r\nlines\"\r\n1e5,acme,a-3,\"\"\n"
        let found = try await outcomes(text)
        #expect(found.map { $0.login?.source.userKey } == ["007", "a\"b", "1e5"])
        #expect(found.map { $0.login?.source.label } == [" x ", "two\r\nlines", nil])
        #expect(found.map { $0.login?.source.accessToken?.reveal() } == ["a-1", "a,2", "a-3"])
        #expect(found.map(\.place.row) == [2, 3, 5])
    }

    @Test(arguments: [
        ("a,b", "wrongColumnCount"), ("a,b,c,d", "wrongColumnCount"), ("a\"b,p,t", "malformedQuoting"),
        ("\"a\"b,p,t", "malformedQuoting"), ("\"a,p,t", "malformedQuoting"), (",p,t", "noUser"),
    ])
    func aBadRecordOfCSVIsAReject(_ bad: String, _ reason: String) async throws {
        let found = try await outcomes("user,provider,access_token\nalice,acme,t\n" + bad + "\n")
        #expect(found.map(\.words) == ["login", "rejected: \(reason)"])
    }

    @Test func aFileWithoutHeaderGetsItsColumnsFromThePlan() async throws {
        let plan = ImportPlan(columns: ["user": "owner"], header: ["owner", "provider", "access_token"])
        let found = try await outcomes("alice,acme,t\n", plan)
        #expect(found.map { $0.login?.source.userKey } == ["alice"])
    }

    @Test func twoColumnsOfOneNameAreRefused() async throws {
        let error = #expect(throws: ImportError.self) {
            try ImportSource(bytes: Array("user,user,provider,access_token\n".utf8))
        }
        #expect(error?.code == .unfitPlan)
    }
}
