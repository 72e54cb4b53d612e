/// Writes JSON (RFC 8259) for requests.
package enum JSONText {
    package static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// An object with text values, in order. A repeated name becomes a list.
    static func object(_ parameters: [FormParameter]) -> String {
        var names: [String] = []
        for parameter in parameters where !names.contains(parameter.name) { names.append(parameter.name) }
        let members = names.map { name in
            let values = parameters.filter { $0.name == name }.map { quote($0.value) }
            return quote(name) + ":" + (values.count == 1 ? values[0] : "[" + values.joined(separator: ",") + "]")
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
