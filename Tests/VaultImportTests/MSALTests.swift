import Testing

@testable import VaultImport

struct MSALTests {
    private static func token(_ secret: String, _ more: String) -> String {
        #"{"secret":"\#(secret)","home_account_id":"u.t","environment":"login.example","client_id":"c",\#(more)}"#
    }

    @Test func aDocumentOverManyLinesIsReadAsOne() async throws {
        let text = """
            {
              "AccessToken": {"a": \(Self.token("at-1", #""expires_on":"1800000100","target":"one""#)),
                "b": \(Self.token("at-2", #""expires_on":"1800000200","target":"two""#))},
              "Other": [1, {"x": "}"}], "Empty": {}, "Number": 5,
              "RefreshToken": {"a": \(Self.token("rt-1", #""last_modification_time":"5""#)),
                "b": \(Self.token("rt-2", #""last_modification_time":"6","family_id":"1""#))}
            }
            """
        let found = try await outcomes(text)
        #expect(found.map(\.words) == ["part", "part", "rejected: superseded", "login"])
        let login = try #require(found.last?.login?.source)
        #expect(login.refreshToken?.reveal() == "rt-2")
        #expect(login.accessToken?.reveal() == "at-2")
        #expect(login.resourceTokens.map(\.target) == ["one"])
        #expect(login.warnings == [.familyToken])
    }

    @Test(arguments: [
        #"{"RefreshToken": {"a": {"secret": "x""#, #"{"RefreshToken": {"a": {}} trailing"#, #"{"RefreshToken" {}}"#,
        #"{"RefreshToken": {"a": {}}} {}"#,
    ])
    func aBrokenDocumentIsDamaged(_ text: String) {
        let error = #expect(throws: ImportError.self) { try ImportSource(bytes: Array(text.utf8)) }
        #expect(error?.code == .damagedSource)
    }

    @Test func aDocumentThatIsTooLongIsRefusedWithItsLimit() {
        var plan = ImportPlan()
        plan.limits.documentBytes = 100
        let text = #"{"RefreshToken": {"a": \#(Self.token(String(repeating: "x", count: 200), #""a":1"#))}}"#
        let error = #expect(throws: ImportError.self) { try ImportSource(bytes: Array(text.utf8), plan: plan) }
        #expect(error?.message.contains("100 bytes") == true)
    }
}
