import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

struct JSONObjectTests {
    private func object(_ text: String) throws(JSONError) -> JSONObject { try JSONObject(document: Array(text.utf8)) }

    private func string(_ text: String) throws -> String? {
        guard case .string(let string)? = try object(text)["a"] else { return nil }
        return string
    }

    @Test func everyEscapeIsRead() throws {
        #expect(try string(#"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#) == "\"\\/\u{8}\u{C}\n\r\té😀")
        #expect(try string("{ \"a\"\t:\r\n\"x\" }\n") == "x")
    }

    @Test(arguments: [
        #"{"a":"\ud83d"}"#, #"{"a":"\ude00"}"#, #"{"a":"\ud83dx"}"#, #"{"a":"\ud83d\u0041"}"#, #"{"a":"\ud83d\ud83d"}"#,
    ])
    func halfASurrogatePairIsRefused(_ text: String) {
        #expect(throws: JSONError.loneSurrogate) { try object(text) }
    }

    @Test(arguments: [
        "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\":01}", "{\"a\":1.}",
        "{\"a\":.5}", "{\"a\":+1}", "{\"a\":1e}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":tru}", "{\"a\":TRUE}",
        "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"}",
        "{\"a\":1}}", "{\"a\":1} {}", "{} //", "/**/{}", "", "  ", "\u{FEFF}\u{FEFF}{}", "{\"a\" 1}", "{1:1}",
        "{\"a\":-}", "{\"a\":--1}", "{\"a\":}",
    ])
    func whatIsNotJSONIsRefused(_ text: String) {
        #expect(throws: JSONError.self) { try object(text) }
    }

    @Test(arguments: ["[]", "1", "\"a\"", "null", "true"])
    func onlyAnObjectIsADocument(_ text: String) {
        #expect(throws: JSONError.notAnObject) { try object(text) }
    }

    @Test(
        arguments: [
            [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ] as [[UInt8]])
    func invalidUTF8IsRefused(_ bytes: [UInt8]) {
        let document = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        #expect(throws: JSONError.notUTF8) { try JSONObject(document: document) }
    }

    @Test(arguments: ["[", "{\"a\":"])
    func aDepthBombIsRefusedWithoutDeepRecursion(_ opening: String) {
        let bomb = "{\"a\":" + String(repeating: opening, count: 100_000)
        #expect(throws: JSONError.tooDeep) { try object(bomb) }
    }

    @Test func depthUpToTheLimitIsRead() throws {
        let deep = { (depth: Int) in
            "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        _ = try object(deep(31))
        #expect(throws: JSONError.tooDeep) { try object(deep(32)) }
    }

    @Test func aFloodOfMembersIsRefused() {
        let flood = "{" + (0..<2_000).map { "\"m\($0)\":1" }.joined(separator: ",") + "}"
        #expect(throws: JSONError.tooMany) { try object(flood) }
    }

    @Test func differentValuesUnderOneNameAreAmbiguous() throws {
        guard case .ambiguous? = try object(#"{"a":1,"a":2}"#)["a"] else {
            Issue.record("one of two values was picked")
            return
        }
        guard case .number("1")? = try object(#"{"a":1,"a":1}"#)["a"] else {
            Issue.record("equal values are one value")
            return
        }
    }

    @Test func numbersAreKeptAsWritten() throws {
        for number in ["0", "-0", "1e999", "18446744073709551616", "0.10", "1E+2"] {
            guard case .number(number)? = try object("{\"a\":\(number)}")["a"] else {
                Issue.record("\(number) changed")
                continue
            }
        }
    }
}

struct FormCodecTests {
    @Test func theExampleOfRFC6749AppendixBIsEncoded() {
        // RFC 6749 Appendix B: U+0020 U+0025 U+0026 U+002B U+00A3 U+20AC.
        #expect(FormCodec.encode(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
    }

    @Test func whatIsEncodedIsDecodedAgain() {
        let parameters = [FormParameter("a b", "c&d=e+%\n"), FormParameter("é", "😀"), FormParameter("x", "")]
        #expect(FormCodec.decode(FormCodec.encode(parameters)) == parameters)
    }

    @Test(arguments: [
        "", "abc", "=x", "a=%", "a=%4", "a=%zz", "a=<b>", "a={}", "a=b c", "a=\u{e9}", "a=%ff", "a=b\nc=d", "&",
        "a=\"b\"",
    ])
    func whatIsNoFormIsRefused(_ text: String) {
        #expect(FormCodec.decode(text.utf8) == nil)
    }

    @Test func aFloodOfParametersIsRefused() {
        #expect(FormCodec.decode(Array(repeating: "a=b", count: 257).joined(separator: "&").utf8) == nil)
    }
}

struct DateTests {
    @Test(arguments: [
        // RFC 9110 §5.6.7: the same instant in three forms.
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func theThreeFormsOfRFC9110AreRead(_ text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func otherDatesAreRead(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
    ])
    func otherTextIsNoDate(_ text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test(arguments: [
        ("2023-11-14T22:13:20Z", 1_700_000_000), ("2023-11-14t22:13:20.123456z", 1_700_000_000),
        ("2023-11-15 00:13:20+02:00", 1_700_000_000), ("2023-11-14T16:43:20-05:30", 1_700_000_000),
    ])
    func isoDatesAreRead(_ text: String, _ seconds: Int) {
        #expect(ISODate.seconds(text) == seconds)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000"), (1_700_000_000_123, "2023-11-14T22:13:20.123"),
            (-1, "1969-12-31T23:59:59.999"),
            (1_835_395_200_000, "2028-02-29T00:00:00.000"), (-62_135_596_800_000, "0001-01-01T00:00:00.000"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999"), (253_402_300_800_000, nil), (-62_135_596_800_001, nil),
        ] as [(Int64, String?)])
    func civilTimesAreWritten(_ milliseconds: Int64, _ text: String?) {
        #expect(CivilTime.text(milliseconds: milliseconds) == text)
    }

    @Test(arguments: ["", "T", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14T22:13:20+9", "2023-13-14T22:13:20Z"])
    func otherTextIsNoISODate(_ text: String) {
        #expect(ISODate.seconds(text) == nil)
    }

    @Test(
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), ("1000000000", .seconds(3_600)),
            ("99999999999999999999999", .seconds(3_600)), ("Tue, 14 Nov 2023 22:15:20 GMT", .seconds(120)),
            ("Tue, 14 Nov 2023 21:13:20 GMT", .zero), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3_600)),
            ("-5", nil), ("1.5", nil), ("soon", nil), ("", nil), ("+5", nil),
        ] as [(String, Duration?)])
    func retryAfterIsSecondsOrADate(_ text: String, _ expected: Duration?) {
        let response = reply(429, "", [("Retry-After", text)]).response
        #expect(RetryAfter.delay(in: response, now: Sample.start) == expected)
    }
}

struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy"),
    ])
    func theVectorsOfRFC4648AreMet(_ plain: String, _ encoded: String) {
        // RFC 4648 §10, without padding.
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9v+", "Zm9v/", "Zm 9v", "é"])
    func otherTextIsRefused(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}

struct HexTests {
    @Test func allBytesComeBackInEitherCase() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Hex.encode(bytes)
        #expect(text.hasPrefix("000102030405060708090a0b") && text.hasSuffix("fdfeff"))
        #expect(Hex.decode(text.utf8) == bytes)
        #expect(Hex.decode(text.uppercased().utf8) == bytes)
    }

    @Test(arguments: ["0", "0g", "0 ", "0x00", "é0"])
    func otherTextIsNoHexadecimal(_ text: String) {
        #expect(Hex.decode(text.utf8) == nil)
    }

    /// Eight bytes are looked at together, and the rest one by one.
    @Test func aTextIsQuotedWhereverAnOddCharacterStands() throws {
        let scalars = (0...0xFF).map { Unicode.Scalar(UInt8($0)) } + ["\u{2028}", "\u{1F511}"]
        for scalar in scalars {
            for place in 0..<20 {
                var text = String(repeating: "a", count: 20)
                text.replaceSubrange(text.index(text.startIndex, offsetBy: place)..., with: String(scalar))
                text += String(repeating: "b", count: 20 - place)
                let quoted = JSONText.quote(text)
                #expect(try JSONDecoder().decode(String.self, from: Data(quoted.utf8)) == text)
                let isPlain = scalar.value >= 0x20 && !["\"", "\\", "\u{7F}"].contains(scalar)
                #expect((quoted == "\"\(text)\"") == isPlain, "\(scalar.value) at \(place)")
            }
        }
    }
}
