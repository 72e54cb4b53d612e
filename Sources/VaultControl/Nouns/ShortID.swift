import TokenVault

/// An id as people type it: all of its 26 letters and digits, or its beginning, in any case.
enum ShortID {
    static let length = 26
    /// Fewer letters are more likely a slip than a choice.
    static let least = 4

    /// In lower case, without blanks around it; nil if no id begins so.
    static func normal(_ text: String) -> String? {
        let word = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        let normal = String(word).lowercased()
        guard (1...length).contains(normal.utf8.count),
            normal.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) })
        else { return nil }
        return normal
    }

    /// The first id that begins so, in the order of ids.
    static func first(_ front: String) -> String { front + String(repeating: "a", count: max(0, length - front.count)) }

    /// The one that is meant among all that there are.
    ///
    /// - Parameters:
    ///   - noun: what they are, such as `key slot`.
    ///   - missing: if there is none.
    ///   - label: another name of each, by which it can be meant, too.
    static func find<Thing>(
        _ text: String, among things: [Thing], noun: String, list: String, missing: VaultError.Code,
        id: (Thing) -> String, label: (Thing) -> String? = { _ in nil }
    ) throws(Failure) -> Thing {
        let named = things.filter { label($0) == text }
        if named.count == 1 { return named[0] }
        guard named.isEmpty else { throw ambiguous(text, noun, named.map(id), "are labelled") }
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
                        + (hasLabels ? ", and none is labelled so" : ""))
        }
        return thing
    }

    /// The beginning of an id, or all of it; refuses what can be neither.
    ///
    /// - Parameter list: what lists them, after the word.
    @discardableResult
    static func check(_ text: String, noun: String, of list: String) throws(Failure) -> String {
        guard let front = normal(text), front.count >= least else {
            throw .usage(
                "\(Printable.named(text)) is not a \(noun): use its 26 letters and digits, or the first \(least) or more",
                hint: "list \(list)")
        }
        return front
    }

    static func ambiguous(_ text: String, _ noun: String, _ ids: [String], _ verb: String) -> Failure {
        Failure(
            .usage, code: "ambiguous", "\(Count.of(ids.count, noun)) \(verb) \(Printable.named(text))",
            hints: ["add more of the id:"] + ids.prefix(10))
    }
}
