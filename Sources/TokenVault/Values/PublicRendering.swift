/// A public value of which every rendering shows the public names alone: no stored form, no `Optional(…)`, no secret.
///
/// `print`, `debugPrint`, `dump`, a debugger and a failed expectation each read one of its three renderings.
protocol PublicRendering: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var shown: ShownFields { get }
    /// By default the same as `description`.
    var debugText: String { get }
}

extension PublicRendering {
    public var description: String { shown.text(of: "\(Self.self)") }
    public var debugDescription: String { debugText }
    public var customMirror: Mirror {
        Mirror(self, children: shown.fields, displayStyle: Self.self is AnyClass ? .class : .struct)
    }

    var debugText: String { description }
}

/// A public value that is one word, and has its own description: nothing is inside it.
protocol NameRendering: CustomStringConvertible, CustomReflectable {}

extension NameRendering {
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

/// Public names and their values, in the order of their declaration. What is nil or empty is left out.
struct ShownFields: ExpressibleByDictionaryLiteral {
    let fields: [Mirror.Child]

    init(dictionaryLiteral elements: (String, Any?)...) {
        fields = elements.compactMap { label, value in
            guard let value, (value as? any Collection)?.isEmpty != true else { return nil }
            return (label: label, value: value)
        }
    }

    /// A user's or a provider's name in the vault; that of a tenant as `tenant/name`.
    static func name(_ name: String?) -> String? {
        name.map { name in Tenant.of(name).map { "\($0.tenant)/\($0.userId)" } ?? name }
    }

    /// A URL without its query, which may hold what only the browser may know.
    static func withoutQuery(_ url: String) -> String {
        let front = url.prefix { $0 != "?" }
        return front.count == url.count ? url : front + "?…"
    }

    func text(of type: String) -> String {
        guard !fields.isEmpty else { return type }
        let texts = fields.map { field in "\(field.label ?? ""): \(Self.text(of: field.value))" }
        return "\(type)(\(texts.joined(separator: ", ")))"
    }

    private static func text(of value: Any) -> String {
        // With its escapes, so that a name stays on the line.
        (value as? String)?.debugDescription ?? "\(value)"
    }
}
