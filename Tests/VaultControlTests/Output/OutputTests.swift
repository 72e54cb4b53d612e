import Foundation
import Platform
import Testing

@testable import VaultControl

/// Hostile text in output.
struct OutputTests {
    @Test(arguments: [
        ("alice", "alice"), ("a\nb", "a\\nb"), ("\u{1B}[31mred", "\\u{1b}[31mred"), ("a\u{202E}b", "a\\u{202e}b"),
        ("tab\there", "tab\\there"), ("back\\slash", "back\\\\slash"), ("\u{200B}", "\\u{200b}"),
        ("\u{9B}31m", "\\u{9b}31m"), ("\u{2028}", "\\u{2028}"), ("żółć 漢字 🙂", "żółć 漢字 🙂"), ("a\r\nb", "a\\r\\nb"),
    ])
    func whatCouldDeceiveIsEscaped(_ text: String, _ printed: String) {
        #expect(Printable.escape(text) == printed)
    }

    /// In the first moments the rate says nothing.
    @Test(
        arguments: [
            (10, 100, 1.0, nil), (0, 100, 60.0, nil), (100, 100, 60.0, nil), (10, 100, 10.0, "90 s"),
            (1, 4, 600.0, "30 min"),
        ] as [(Int, Int, Double, String?)])
    func longWorkSaysHowLongTheRestTakes(_ done: Int, _ total: Int, _ elapsed: Double, _ left: String?) {
        #expect(Progress.left(done: done, total: total, elapsed: elapsed) == left)
    }

    @Test func aTenantsNameIsShownWithoutItsSeparator() {
        #expect(Printable.escape("\u{1D}contoso\u{1D}alice") == "contoso/alice")
        #expect(Printable.shortened("\u{1D}contoso\u{1D}" + String(repeating: "x", count: 90)).hasPrefix("contoso/xxx"))
        #expect(Printable.escape("a\u{1D}contoso\u{1D}alice") == "a\\u{1d}contoso\\u{1d}alice")
        #expect(Printable.escape("\u{1D}alice") == "\\u{1d}alice")
    }

    @Test func longTextIsCutBeforeItIsPrinted() {
        #expect(Printable.shortened(String(repeating: "x", count: 1 << 20)).count == 64)
        #expect(Printable.shortened(String(repeating: "\u{1B}", count: 64)).count == 64)
    }

    @Test(arguments: [
        "plain", "quote \" and \\", "line\nbreak", "\u{0}\u{1}\u{1F}", "\u{202E}rtl", "🙂 \u{1F468}\u{200D}\u{1F469}",
        "\u{E0001}tag", "\u{10FFFF}",
    ])
    func everyTextIsValidJSONAndComesBackExactly(_ text: String) throws {
        let document = JSONValue.object([("key", .string(text)), (text, .array([.null, .bool(true), .integer(-1)]))])
            .text
        let object = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
        #expect(object?["key"] as? String == text)
        #expect(!document.unicodeScalars.contains { Printable.isDeceptive($0) })
    }

    @Test func interruptedListEndsWithItsCurrentPage() async throws {
        let nowhere = try FileHandle(forWritingTo: URL(filePath: "/dev/null"))
        let output = BorrowedDescriptor(nowhere.fileDescriptor)
        let pages = try await Task {
            let console = Console(input: .standardInput, output: output, error: output, environment: [:])
            var listing = Listing("rows", ["ROW"], Invocation(console: console, isJSON: false, isQuiet: true))
            var pages = 0
            do {
                try await listing.appendAll { (cursor: Int?) in
                    pages += 1
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return ([[Field("row", pages)]], pages < 1_000 ? pages : nil)
                }
            } catch is CancellationError {}
            return pages
        }.value
        #expect(pages == 1)
    }

    @Test func tablesHaveHeadingsOnATerminalAndTabsInAPipe() {
        let rows: [OutputRecord] = [("alice", "good"), ("b\tob\u{1B}[2J", "dead")].map { user, state in
            [Field("user", user).column("USER"), Field("state", state).column("STATE")]
        }
        let table = Table(["USER", "STATE"], rows)
        let plain = Style(isRich: false)
        #expect(table.lines == "alice\tgood\nb\\tob\\u{1b}[2J\tdead\n")
        #expect(
            table.columns(width: 80, style: plain)
                == "USER            STATE\nalice           good\nb\\tob\\u{1b}[2J  dead\n")
    }

    /// One description gives the object, the lines and the row.
    @Test func aSheetIsRenderedInThreeWays() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let record: OutputRecord = [
            Field("id", "7").label("login").column("LOGIN"),
            Field("tokenEndpoint", "https://a\n.example"),
            Field("expiresAt", now.addingTimeInterval(3_540)).column("EXPIRES"),
            Field("scope", String?.none), Field("label", String?.none).orWords("none"), Field("renewable", true),
            Field("logins", ["a", "b"]).words(2), .data("isHeld", false), .line("next step", "wait"),
        ]
        #expect(
            record.json.text
                == #"{"id":"7","tokenEndpoint":"https://a\n.example","expiresAt":"2027-01-15T08:59:00Z","scope":null,"#
                + #""label":null,"renewable":true,"logins":["a","b"],"isHeld":false}"#)
        #expect(
            record.text(isTerminal: false, style: Style(isRich: false), now: now)
                == """
                login\t7
                token endpoint\thttps://a\\n.example
                expires\t2027-01-15T08:59:00Z
                label\tnone
                renewable\tyes
                logins\t2
                next step\twait

                """)
        #expect(
            record.text(isTerminal: true, style: Style(isRich: false), now: now)
                .contains("expires         2027-01-15T08:59:00Z (in 59 min)\n"))
        let headings = ["EXPIRES", "PROVIDER", "LOGIN"]
        #expect(record.row(under: headings, isTerminal: true, now: now) == ["in 59 min", "", "7"])
        #expect(record.row(under: headings, isTerminal: false, now: now) == ["2027-01-15T08:59:00Z", "", "7"])
    }

    @Test func durationsAreShownInWords() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(Instant.relative(now.addingTimeInterval(59), now: now) == "in 59 s")
        #expect(Instant.relative(now.addingTimeInterval(3_540), now: now) == "in 59 min")
        #expect(Instant.relative(now.addingTimeInterval(-10_800), now: now) == "3 h ago")
        #expect(Instant.relative(now.addingTimeInterval(864_000), now: now) == "in 10 days")
        #expect(Instant.relative(.distantFuture, now: now).hasPrefix("in "))
    }
}
