/// One name and value of a form. The value may be a secret, so it is not printed.
public struct FormParameter: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    public var description: String { "\(name)=<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: ["name": name], displayStyle: .struct) }
}
