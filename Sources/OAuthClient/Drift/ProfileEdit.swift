/// A change of one field of a profile's file.
package struct ProfileEdit: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case word(String)
        case seconds(Duration)

        /// As JSON.
        package var text: String {
            switch self {
            case .word(let word): JSONText.quote(word)
            case .seconds(let time): String(time.components.seconds)
            }
        }
    }

    package let section: String
    package let field: String
    package let value: Value

    init(_ section: String, _ field: String, _ value: Value) {
        self.section = section
        self.field = field
        self.value = value
    }
}

extension [ProfileEdit] {
    /// As a merge patch (RFC 7396); nil if there is nothing to change.
    package var mergePatch: String? {
        guard !isEmpty else { return nil }
        var sections: [String] = []
        for edit in self where !sections.contains(edit.section) { sections.append(edit.section) }
        let parts = sections.map { section in
            let fields = filter { $0.section == section }.map { "\(JSONText.quote($0.field)):\($0.value.text)" }
            return "\(JSONText.quote(section)):{\(fields.joined(separator: ","))}"
        }
        return "{\(parts.joined(separator: ","))}"
    }
}

extension ProviderProfile {
    /// A profile's file with these changes, and a source for them. Everything else stays as it was written.
    ///
    /// - Parameters:
    ///   - document: A valid profile.
    ///   - observed: What the replies showed.
    ///   - day: The day on which that was accepted: `YYYY-MM-DD`.
    /// - Throws: ``ProfileError`` if the result is not valid.
    package static func document(
        _ document: [UInt8], with edits: [ProfileEdit], observed: [String], on day: String, file: String
    ) throws(ProfileError) -> [UInt8] {
        let profile: JSONObject
        do {
            profile = try JSONObject(document: document)
        } catch {
            throw ProfileError(.notJSON, file: file)
        }
        var members: [(name: String, value: String)] = []
        for name in profile.names where !members.contains(where: { $0.name == name }) {
            members.append((name, profile.text(of: name) ?? "null"))
        }
        func set(_ name: String, _ value: String) {
            if let index = members.firstIndex(where: { $0.name == name }) {
                members[index].value = value
            } else {
                members.append((name, value))
            }
        }
        for section in Set(edits.map(\.section)).sorted() {
            set(section, Self.text(of: profile[section], edits.filter { $0.section == section }))
        }
        let sources = observed.map {
            #"{"url":"observed","read":\#(JSONText.quote(day)),"says":\#(JSONText.quote($0))}"#
        }
        let earlier = (profile.text(of: "source") ?? "[]").trimmingSuffix("]")
        let isFirst = earlier.drop(while: { $0 == "[" || $0.isWhitespace }).isEmpty
        set("source", earlier + (isFirst || sources.isEmpty ? "" : ",") + sources.joined(separator: ",") + "]")
        let text =
            "{\n" + members.map { "  \(JSONText.quote($0.name)): \($0.value)" }.joined(separator: ",\n") + "\n}\n"
        _ = try ProviderProfile(parsing: Array(text.utf8), file: file)
        return Array(text.utf8)
    }

    private static func text(of section: JSONValue?, _ edits: [ProfileEdit]) -> String {
        var fields: [(name: String, value: String)] = []
        if case .object(let section)? = section {
            fields = section.names.map { ($0, section.text(of: $0) ?? "null") }
        }
        for edit in edits {
            fields.removeAll { $0.name == edit.field }
            fields.append((edit.field, edit.value.text))
        }
        return "{" + fields.map { "\(JSONText.quote($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
    }
}

extension String {
    fileprivate func trimmingSuffix(_ end: Character) -> String {
        var text = self
        while let last = text.last, last.isWhitespace { text.removeLast() }
        if text.last == end { text.removeLast() }
        return text
    }
}
