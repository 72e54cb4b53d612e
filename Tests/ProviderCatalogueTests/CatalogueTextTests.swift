import ProviderCatalogue
import Testing

struct CatalogueTextTests {
    private func read(_ text: String) throws -> CatalogueValue { try CatalogueText.read(Array(text.utf8)) }
    private func map(_ text: String) throws -> CatalogueMap { try #require(try read(text).map) }

    private func failure(_ text: String) -> CatalogueError? {
        do throws(CatalogueError) {
            _ = try CatalogueText.read(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("a: plain text", "plain text"), ("a: 'it''s'", "it's"), ("a: \"q\\u0041\\n\"", "qA\n"),
        ("a: x # comment", "x"), ("a: x#y", "x#y"), ("a: https://x.example/?b=c:d#e", "https://x.example/?b=c:d#e"),
        ("a: one\n  two\n\n  three", "one two\nthree"), ("a: 'one\n  two\n\n  three'", "one two\nthree"),
        ("a: \"one\\\n  two\"", "onetwo"), ("a: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree\n"),
        ("a: |-\n  one\n", "one"), ("a: |+\n  one\n\n", "one\n\n"), ("a: |2\n   one\n", " one\n"),
        ("a: >\n  one\n  two\n\n  three\n", "one two\nthree\n"),
        ("a: >-\n  one\n    two\n  three", "one\n  two\nthree"),
        ("'a': true", "true"), ("a: 'null'", "null"), ("\u{FEFF}a: x", "x"), ("---\na: x", "x"), ("a: x\r\n", "x"),
    ])
    func scalarsAreReadAsYAMLHasThem(text: String, value: String) throws {
        #expect(try map(text)["a"] == .text(value))
    }

    @Test(arguments: ["a:", "a: ~", "a: null", "a: # nothing", "a:\nb: x"])
    func missingValuesAreNull(text: String) throws {
        #expect(try map(text)["a"] == .null)
    }

    @Test func blocksNestByIndentation() throws {
        let map = try map(
            "a:\n  b: 1\n  c:\n  - x\n  - d: 2\n    e: 3\n  - - y\n    - z\n  f:\n    - g:\n        h: 4\ni: 5\n")
        let a = try #require(map["a"]?.map)
        #expect(a.names == ["b", "c", "f"])
        let list = try #require(a["c"]?.list)
        #expect(list.first == .text("x"))
        #expect(list.dropFirst().first?.map?["e"] == .text("3"))
        #expect(list.last == .list([.text("y"), .text("z")]))
        #expect(a["f"]?.list?.first?.map?["g"]?.map?["h"] == .text("4"))
        #expect(map["i"] == .text("5"))
    }

    @Test func flowsMayTakeSeveralLines() throws {
        let map = try map("a: {b: 1, 'c': [x, \"y, z\", {}],\n    d: , e: ~ }\nf: [ # comment\n  g,\n  h,\n]\n")
        let a = try #require(map["a"]?.map)
        #expect(a["c"] == .list([.text("x"), .text("y, z"), .map(CatalogueMap())]))
        #expect(a["d"] == .null && a["e"] == .null)
        #expect(map["f"] == .list([.text("g"), .text("h")]))
    }

    @Test(arguments: [
        ("a: 1\nb: &x 2", 2), ("a: *x", 1), ("a: !!str 1", 1), ("&x a: 1", 1), ("<<: {}", 1), ("a: [&x 1]", 1),
        ("a: 1\na: 2", 2), ("a: {b: 1, b: 2}", 1), ("a:\n\tb: 1", 2), ("a: 1\n  b: 2", 2), ("a: b: c", 1),
        ("a:\n    b: 1\n  c: 2", 3), ("a: 'x", 1), ("a: [x", 1), ("a: 'x' y", 1), ("a: \"\\q\"", 1), ("a: |x\n b", 1),
        ("a: 1\n---\nb: 2", 2), ("a: 1\n\u{0}", 2), ("a: {[x]: y}", 1), ("a: [x y: z]", 1), ("a: @x", 1),
        ("- a\nb: 1", 2),
        ("a: \"\\ud800\"", 1), ("a: \"\\u+123\"", 1), ("a\nb: 1", 2),
    ])
    func whatIsNotReadNamesItsLine(text: String, line: Int) throws {
        #expect(failure(text)?.line == line, "\(text)")
    }

    @Test func bytesThatAreNotTextNameTheirLine() {
        #expect(throws: CatalogueError.self) { try CatalogueText.read([0x61, 0x0A, 0xFF]) }
        do throws(CatalogueError) { _ = try CatalogueText.read([0x61, 0x0A, 0xFF]) } catch { #expect(error.line == 2) }
    }

    @Test func sizeAndDepthAreBounded() throws {
        let depth = CatalogueText.maximumDepth
        let flow = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        #expect(failure("a: " + flow) == nil)
        #expect(failure("a: " + String(repeating: "[", count: depth))?.line == 1)
        #expect(failure(String(repeating: "- ", count: 100_000) + "x")?.message.contains("levels") == true)
        #expect(failure((0..<40).map { String(repeating: " ", count: $0) + "a:\n" }.joined())?.line == depth + 1)
        let large = [UInt8](repeating: UInt8(ascii: "#"), count: CatalogueText.maximumBytes + 1)
        #expect(throws: CatalogueError.self) { try CatalogueText.read(large) }
        _ = try CatalogueText.read(Array(large.dropLast()))
    }
}
