import Platform

/// A text that an operator provides as evidence of what happened to a vault. It may be long, and is read in pieces.
package struct EvidenceFile: Sendable {
    private let path: String
    private static let pieceSize = 64 << 10

    package init(_ path: String) { self.path = path }

    /// Whether it has lines of JSON, like an export of the audit trail.
    package func isJSON() throws(StoreError) -> Bool {
        var isJSON = false
        try forEachLine { line throws(StoreError) in
            isJSON = line.first == "{"
            return line.isEmpty
        }
        return isJSON
    }

    /// A last line without an end was not written completely. It is passed on as a line that nothing writes.
    ///
    /// - Parameter body: Returns whether it wants more lines.
    package func forEachLine(_ body: (Substring) throws(StoreError) -> Bool) throws(StoreError) {
        let (file, kind) = try translating { () throws(SystemError) in
            // Non-blocking, so that opening a pipe without a writer does not wait.
            let file = try Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting])
            return (file, try file.status().kind)
        }
        guard kind == .regular else {
            throw failure("not a file", hint: "evidence is read twice: save it in a file first")
        }
        var rest: [UInt8] = []
        // A line that is longer than a piece is not of a known kind.
        while rest.count <= Self.pieceSize {
            let piece = try translating { () throws(SystemError) in try file.read(atMost: Self.pieceSize) }
            if piece.isEmpty { break }
            rest += piece
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard try body(Substring(String(decoding: rest[start..<end], as: UTF8.self))) else { return }
                start = end + 1
            }
            rest.removeSubrange(..<start)
        }
        if !rest.isEmpty { _ = try body("\u{FFFD}") }
    }

    private func translating<R>(_ body: () throws(SystemError) -> R) throws(StoreError) -> R {
        do throws(SystemError) { return try body() } catch { throw failure(error.text) }
    }

    private func failure(_ reason: String, hint: String = "check the path, and who may read it") -> StoreError {
        StoreError(.invalidValue, "the evidence cannot be read: \(path) (\(reason))", hint: hint)
    }
}
