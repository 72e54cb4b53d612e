import Testing

@testable import VaultControl

/// Tables on a terminal.
struct TableTests {
    private static let id = "lfxqs7n2mvbsg2e4zj6ptwa3ce"

    private static func table(_ rows: [[String]], _ headings: [String] = ["LOGIN", "USER", "LABEL", "STATE"]) -> Table {
        Table(headings, rows.map { row in OutputRecord(zip(headings, row).map { Field($0, $1).column($0) }) })
    }

    private static func lines(_ table: Table, _ width: Int) -> [Substring] {
        table.columns(width: width, style: Style(isRich: false)).split(separator: "\n")
    }

    @Test func theWidestColumnGivesWayAndIdsNever() {
        let table = Self.table([[Self.id, String(repeating: "u", count: 90), "phone", "good"]])
        let narrow = Self.lines(table, 60)
        #expect(narrow.allSatisfy { $0.count <= 60 }, "\(narrow)")
        #expect(narrow.last?.contains(Self.id) == true)
        #expect(narrow.last?.contains("uuuu…  phone  good") == true, "\(narrow)")
        let wide = Self.lines(table, 200)
        #expect(wide.last?.contains(String(repeating: "u", count: 90)) == true)
    }

    /// Where not even that is enough, each cell has a line: nothing is cut to a stump, and no line is broken.
    @Test func aTinyTerminalGetsALineForEachCell() {
        let table = Self.table([[Self.id, String(repeating: "u", count: 90), "phone", "good"]])
        let lines = Self.lines(table, 40)
        #expect(lines.first.map { String($0) } == Self.id && lines.last == "  state  good", "\(lines)")
        #expect(lines.allSatisfy { $0.count <= 40 }, "\(lines)")
    }

    @Test func emptyColumnsAreLeftOut() {
        let lines = Self.lines(Self.table([[Self.id, "alice", "", "good"], [Self.id, "bob", "", ""]]), 80)
        #expect(lines.first == "LOGIN                       USER   STATE")
        #expect(lines.last == "\(Self.id)  bob")
    }

    @Test func wideCharactersTakeTwoColumns() {
        let lines = Self.lines(
            Self.table([["漢字", "a"], ["e\u{301}t", "b"], ["한", "c"], ["🙂", "d"]], ["A", "B"]), 80)
        #expect(lines == ["A     B", "漢字  a", "e\u{301}t    b", "한    c", "🙂    d"])
        #expect(DisplayWidth.of("🇩🇪") == 2)
        #expect(DisplayWidth.cut("漢字漢字", to: 6) == "漢字…")
        #expect(DisplayWidth.cut("漢字漢字", to: 8) == "漢字漢字")
    }

    @Test func paragraphsBreakBetweenWords() {
        #expect(
            Paragraph.wrapped("one two three four five six", indent: 2, width: 22) == "one two three four\n  five six")
        #expect(Paragraph.wrapped("short", indent: 2, width: 22) == "short")
        #expect(Paragraph.wrapped(String(repeating: "x", count: 50), indent: 2, width: 22).count == 50)
    }
}
