import OAuthClient

/// One JSON object, written member by member.
struct JSONLine {
    private var members: [String] = []

    var text: String { "{" + members.joined(separator: ",") + "}" }

    mutating func add(_ name: String, _ value: String) { members.append("\"\(name)\":\(JSONText.quote(value))") }
    mutating func add(_ name: String, _ value: Int) { members.append("\"\(name)\":\(value)") }
    mutating func add(_ name: String, _ value: Bool) { members.append("\"\(name)\":\(value)") }
    mutating func add(_ name: String, _ value: JSONLine) { members.append("\"\(name)\":\(value.text)") }

    mutating func add(_ name: String, _ values: [String]) {
        members.append("\"\(name)\":[\(values.map(JSONText.quote).joined(separator: ","))]")
    }

    mutating func add(_ name: String, _ values: [String: Int]) {
        add(name, members: values) { String($0) }
    }

    mutating func add(_ name: String, _ values: [String: String]) {
        add(name, members: values, JSONText.quote)
    }

    private mutating func add<Value>(_ name: String, members values: [String: Value], _ text: (Value) -> String) {
        let pairs = values.sorted { $0.key < $1.key }.map { "\(JSONText.quote($0.key)):\(text($0.value))" }
        members.append("\"\(name)\":{\(pairs.joined(separator: ","))}")
    }
}
