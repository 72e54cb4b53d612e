/// A JSON object of a control request, read by name with an error that names the member.
struct ControlBody {
    let members: [String: JSONValue]

    init(_ bytes: [UInt8]) throws(ControlError) {
        // Where no member is needed, no body is, either.
        guard !bytes.isEmpty else {
            try self.init(.object([:]))
            return
        }
        guard let value = JSONValue.parse(bytes) else { throw ControlError(sentence: "the body is not JSON") }
        try self.init(value)
    }

    init(_ value: JSONValue) throws(ControlError) {
        guard case .object(let members) = value else {
            throw ControlError(sentence: "a JSON object is expected")
        }
        self.members = members
    }

    /// A misspelt member would silently make another test than the one meant.
    func refuseOthers(than known: [String]) throws(ControlError) {
        if let stranger = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw ControlError(sentence: "unknown member: \(stranger)")
        }
    }

    func text(_ name: String) throws(ControlError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw ControlError(sentence: "\(name) must be a string") }
        return text
    }

    func number(_ name: String) throws(ControlError) -> Double? {
        guard let value = members[name] else { return nil }
        guard let number = value.numericDate, number.magnitude < 1e12 else {
            throw ControlError(sentence: "\(name) must be a number")
        }
        return number
    }

    func count(_ name: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .integer(let number) = value, let count = Int(exactly: number), range.contains(count) else {
            throw ControlError(sentence: "\(name) must be an integer of \(range.lowerBound)...\(range.upperBound)")
        }
        return count
    }

    func flag(_ name: String) throws(ControlError) -> Bool? {
        guard let value = members[name] else { return nil }
        guard case .bool(let flag) = value else { throw ControlError(sentence: "\(name) must be true or false") }
        return flag
    }

    func texts(_ name: String) throws(ControlError) -> [String]? {
        guard let value = members[name] else { return nil }
        guard case .array(let items) = value, case let texts = items.compactMap(\.string), texts.count == items.count
        else { throw ControlError(sentence: "\(name) must be an array of strings") }
        return texts
    }

    /// Whether the member is there and `null`.
    func isNull(_ name: String) -> Bool { members[name] == .null }

    func object(_ name: String) throws(ControlError) -> [String: JSONValue]? {
        guard let value = members[name] else { return nil }
        guard case .object(let object) = value else { throw ControlError(sentence: "\(name) must be an object") }
        return object
    }
}
