extension HostileCase {
    private static let good = HostileReply.good()

    /// Documents that two readers would read in two ways, or not at all.
    static let json: [HostileCase] = [
        ok("starts with a byte order mark", "\u{FEFF}" + good, .success),
        HostileCase(
            "has invalid UTF-8 in a token",
            [.readRequest, .reply(200, bytes: Array(#"{"access_token":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8))],
            .doubt),
        HostileCase(
            "is written in UTF-16",
            [
                .readRequest,
                .reply(200, bytes: [0xFF, 0xFE] + good.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
            ],
            .doubt),
        ok("has something after the document", good + "x", .doubt),
        ok("has two documents", good + good, .doubt),
        ok("is behind a guard against hijacking", ")]}',\n" + good, .doubt),
        ok(
            "has two refresh tokens",
            #"{"access_token":"a","token_type":"Bearer","refresh_token":"b","refresh_token":"c"}"#, .doubt),
        ok(
            "has the same refresh token twice",
            #"{"access_token":"a","token_type":"Bearer","refresh_token":"b","refresh_token":"b"}"#, .success),
        ok(
            "has two access tokens",
            #"{"access_token":"a","access_token":"b","token_type":"Bearer","refresh_token":"CANARY-refresh-2"}"#,
            .successor),
        ok(
            "is 100 000 lists deep", String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000),
            .doubt),
        ok("has a member that is 100 deep", deep(100), .doubt),
        ok("has a member that is 10 deep", deep(10), .success),
        ok("is null", "null", .doubt),
        ok("is a list", "[\(good)]", .doubt),
        ok("is empty", "{}", .doubt),
        ok("is in a string", #""{\"access_token\":\"a\"}""#, .doubt),
        ok("has comments", "/* hello */" + good, .doubt),
        ok("has a comma too many", good.replacing("}", with: ",}"), .doubt),
        ok("has single quotes", good.replacing("\"", with: "'"), .doubt),
        ok("has a line feed in a string", HostileReply.good(["access_token": "\"a\nb\""]), .doubt),
        ok("has an escaped line feed in a token", HostileReply.good(["access_token": #""a\nb""#]), .successor),
        ok("has half a surrogate pair", HostileReply.good(["x": #""\ud800""#]), .doubt, .success),
        ok("has 2 000 members", "{" + (0..<2_000).map { "\"m\($0)\":1" }.joined(separator: ",") + "}", .doubt),
        ok("writes member names in capitals", good.replacing("access_token", with: "Access_Token"), .successor),
        ok("writes a member name with a homoglyph", good.replacing("access_token", with: "аccess_token"), .successor),
        ok("writes a member name in escapes", good.replacing("access_token", with: #"\u0061ccess_token"#), .success),
        .reply(
            "answers in a form", 200, "access_token=a&token_type=bearer&expires_in=3600&refresh_token=b", .success,
            "Content-Type: application/x-www-form-urlencoded"),
        .reply(
            "answers in a form with two refresh tokens", 200,
            "access_token=a&token_type=bearer&refresh_token=b&refresh_token=c", .doubt),
        .reply("answers in a form and calls it JSON", 200, "access_token=a&token_type=bearer", .successKeepingToken),
        .reply("answers in JSON and calls it a page", 200, good, .success, "Content-Type: text/html"),
        .reply(
            "answers in JSON and calls it a form", 200, good, .success,
            "Content-Type: application/x-www-form-urlencoded"),
    ]

    /// Lifetimes: odd ones make a token that is renewed sooner or later, never a failure.
    static let lifetimes: [HostileCase] =
        ([
            "1e999", "-0", "18446744073709551616", "0.5", "-1", "0", "null", "\"3600\"", "\"3600 \"", "1e18",
            "3600000", "\"2033-11-14T22:13:20Z\"", "\"soon\"", "true", "[3600]", "{\"s\":3600}", "1e-400", "1",
            "\"0x10\"", "\"NaN\"", "\"inf\"", "\"\"",
        ] as [String]).map { ok("lives for \($0)", HostileReply.good(["expires_in": $0]), .success) } + [
            ok("lives for NaN", HostileReply.good(["expires_in": "NaN"]), .doubt),
            ok("lives for 0x10", HostileReply.good(["expires_in": "0x10"]), .doubt),
            ok("does not say how long it lives", HostileReply.good(["expires_in": nil]), .success),
            ok(
                "lives for two times",
                #"{"access_token":"a","token_type":"Bearer","refresh_token":"b","expires_in":1,"expires_in":2}"#,
                .success),
        ]

    static func ok(_ name: String, _ body: String, _ expected: Outcome...) -> HostileCase {
        HostileCase("200: " + name, [.readRequest, .reply(200, body, "Content-Type: application/json")], expected)
    }

    private static func deep(_ depth: Int) -> String {
        HostileReply.good(["x": String(repeating: "[", count: depth) + String(repeating: "]", count: depth)])
    }
}
