/// One section of a profile, read field by field. Fields that no one reads are rejected at the end.
struct ProfileFields {
    let file: String
    private let path: String
    private let object: JSONObject?
    private var known: Set<String> = []

    init(_ object: JSONObject?, file: String, path: String = "") {
        self.object = object
        self.file = file
        self.path = path
    }

    func failure(_ code: ProfileError.Code, _ field: String, _ detail: String? = nil) -> ProfileError {
        ProfileError(code, file: file, field: path + field, detail: detail)
    }

    /// Rejects unread fields: a misspelt field must not silently become a default.
    func finish() throws(ProfileError) {
        for name in object?.names ?? [] where !known.contains(name) {
            // A file's name is not secret, but may be unprintable.
            let isPlain = name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            throw failure(.unknownField, isPlain ? name : "?")
        }
    }

    private mutating func value(_ name: String) throws(ProfileError) -> JSONValue? {
        known.insert(name)
        guard object?.names.filter({ $0 == name }).count ?? 0 <= 1 else { throw failure(.givenTwice, name) }
        return object?[name]
    }

    /// Whether the field is an object, for fields that may also be text.
    func isObject(_ name: String) -> Bool { if case .object? = object?[name] { true } else { false } }

    func isText(_ name: String) -> Bool { if case .string? = object?[name] { true } else { false } }

    /// The names of the section, in the file's order.
    var names: [String] { object?.names ?? [] }

    /// Text, a number as written, or `true` or `false`.
    mutating func scalar(_ name: String) throws(ProfileError) -> String? {
        switch try value(name) {
        case nil: return nil
        case .string(let text)?, .number(let text)?: return text
        case .bool(let flag)?: return String(flag)
        default: throw failure(.wrongType, name, "expected text, a number, true or false")
        }
    }

    mutating func section(_ name: String) throws(ProfileError) -> ProfileFields {
        switch try value(name) {
        case nil: return ProfileFields(nil, file: file, path: "\(path)\(name).")
        case .object(let object)?: return ProfileFields(object, file: file, path: "\(path)\(name).")
        default: throw failure(.wrongType, name, "expected an object")
        }
    }

    mutating func sections(_ name: String) throws(ProfileError) -> [ProfileFields] {
        guard let value = try value(name) else { return [] }
        guard case .array(let elements) = value else { throw failure(.wrongType, name, "expected a list") }
        var sections: [ProfileFields] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let object) = element else {
                throw failure(.wrongType, "\(name)[\(index)]", "expected an object")
            }
            sections.append(ProfileFields(object, file: file, path: "\(path)\(name)[\(index)]."))
        }
        return sections
    }

    mutating func text(_ name: String) throws(ProfileError) -> String? {
        switch try value(name) {
        case nil: return nil
        case .string(let text)?:
            guard !text.isEmpty, text.utf8.count <= 2_048, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else { throw failure(.notAllowed, name, "expected 1 to 2048 bytes without control characters") }
            return text
        default: throw failure(.wrongType, name, "expected text")
        }
    }

    /// Text that may be empty.
    mutating func emptyOrText(_ name: String) throws(ProfileError) -> String? {
        if case .string("")? = object?[name] {
            known.insert(name)
            return ""
        }
        return try text(name)
    }

    mutating func required(_ name: String) throws(ProfileError) -> String {
        guard let text = try text(name) else { throw failure(.missing, name) }
        return text
    }

    mutating func flag(_ name: String) throws(ProfileError) -> Bool? {
        switch try value(name) {
        case nil: return nil
        case .bool(let flag)?: return flag
        default: throw failure(.wrongType, name, "expected true or false")
        }
    }

    mutating func number(_ name: String, in range: ClosedRange<Int>) throws(ProfileError) -> Int? {
        switch try value(name) {
        case nil: return nil
        case .number(let text)?:
            guard let number = Int(text) else { throw failure(.wrongType, name, "expected a whole number") }
            guard range.contains(number) else {
                throw failure(.notAllowed, name, "expected \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        default: throw failure(.wrongType, name, "expected a whole number")
        }
    }

    mutating func seconds(_ name: String, in range: ClosedRange<Int>) throws(ProfileError) -> Duration? {
        try number(name, in: range).map { .seconds($0) }
    }

    mutating func choice<T: RawRepresentable & CaseIterable>(
        _ name: String, _: T.Type
    ) throws(ProfileError) -> T? where T.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let choice = T(rawValue: text) else {
            throw failure(.notAllowed, name, "expected one of \(T.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    mutating func texts(_ name: String) throws(ProfileError) -> [String] {
        guard let value = try value(name) else { return [] }
        guard case .array(let elements) = value else { throw failure(.wrongType, name, "expected a list of texts") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else {
                throw failure(.wrongType, name, "expected a list of texts")
            }
            guard !text.isEmpty, text.utf8.count <= 256, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw failure(.notAllowed, name, "expected printable ASCII")
            }
            guard !texts.contains(text) else { throw failure(.givenTwice, name) }
            texts.append(text)
        }
        return texts
    }

    mutating func numbers(_ name: String, in range: ClosedRange<Int>) throws(ProfileError) -> Set<Int>? {
        guard let value = try value(name) else { return nil }
        guard case .array(let elements) = value else { throw failure(.wrongType, name, "expected a list of numbers") }
        var numbers: Set<Int> = []
        for element in elements {
            guard case .number(let text) = element, let number = Int(text), range.contains(number) else {
                throw failure(.notAllowed, name, "expected numbers from \(range.lowerBound) to \(range.upperBound)")
            }
            numbers.insert(number)
        }
        return numbers
    }

    /// An object with text values, by name.
    mutating func table(_ name: String) throws(ProfileError) -> [String: String] {
        var section = try section(name)
        var table: [String: String] = [:]
        for key in section.object?.names ?? [] {
            guard let text = try section.text(key) else { continue }
            table[key] = text
        }
        try section.finish()
        return table
    }

    mutating func parameters(_ name: String) throws(ProfileError) -> [FormParameter] {
        try table(name).sorted { $0.key < $1.key }.map { FormParameter($0.key, $0.value) }
    }
}
