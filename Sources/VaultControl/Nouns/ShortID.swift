import TokenVault

/// An id as people type it: its 26 letters and digits, or their beginning, in any case.
enum ShortID {
    static let length = 26
    /// Fewer letters are more likely a mistake than a choice.
    static let least = 4

    /// In lower case, without surrounding blanks; nil if no id starts like this.
    static func normal(_ text: String) -> String? {
        let word = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        let normal = String(word).lowercased()
        guard (1...length).contains(normal.utf8.count),
            normal.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) })
        else { return nil }
        return normal
    }

    /// The first id with this beginning, in the order of ids.
    static func first(_ front: String) -> String { front + String(repeating: "a", count: max(0, length - front.count)) }

    /// The matching item in a list.
    ///
    /// - Parameters:
    ///   - noun: the items' noun, such as `key slot`.
    ///   - missing: the code if none matches.
    ///   - label: an item's other name, which also matches.
    ///   - words: what distinguishes an item from others of the same label.
    static func find<Thing>(
        _ text: String, among things: [Thing], noun: String, list: String, missing: VaultError.Code,
        id: (Thing) -> String, label: (Thing) -> String? = { _ in nil }, words: (Thing) -> String? = { _ in nil }
    ) throws(Failure) -> Thing {
        let named = things.filter { label($0) == text }
        if named.count == 1 { return named[0] }
        guard named.isEmpty else {
            var failure = ambiguous(text, noun, named.map(id), "are labelled")
            failure.hints =
                ["use the id of one of them:"]
                + named.prefix(10).map { thing in words(thing).map { "\(id(thing)) (\($0))" } ?? id(thing) }
            throw failure
        }
        let hasLabels = things.contains { label($0) != nil }
        let front = try check(
            text, noun: hasLabels ? "\(noun) id, nor a label" : "\(noun) id", of: "all \(noun)s: \(list)")
        let found = things.filter { id($0).hasPrefix(front) }
        guard found.count <= 1 else { throw ambiguous(front, noun, found.map(id), "begin with") }
        guard let thing = found.first else {
            throw Failure(
                missing,
                front.count == length
                    ? "the vault has no such \(noun)"
                    : "no \(noun)'s id begins with \(front)"
                        + (hasLabels ? ", and none has that label" : ""))
        }
        return thing
    }

    /// The beginning of an id, or all of it; throws if it is neither.
    ///
    /// - Parameter list: the items and the command that lists them, for the hint.
    @discardableResult
    static func check(_ text: String, noun: String, of list: String) throws(Failure) -> String {
        guard let front = normal(text), front.count >= least else {
            throw .usage(
                "\(Printable.named(text)) is not a \(noun): \(rule(for: text))",
                hint: "list \(list)")
        }
        return front
    }

    /// How an id is typed, after one that cannot be one.
    static func rule(for text: String) -> String {
        let isWord = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        // Only the digits are left that are in no id.
        return isWord && (least...length).contains(text.count)
            ? "an id has the letters a to z and the digits 2 to 7"
            : "use its \(length) letters and digits, or the first \(least) or more"
    }

    static func ambiguous(_ text: String, _ noun: String, _ ids: [String], _ verb: String) -> Failure {
        Failure(
            .usage, code: "ambiguous", "\(Count.of(ids.count, noun)) \(verb) \(Printable.named(text))",
            hints: ["add more of the id:"] + ids.prefix(10))
    }
}
