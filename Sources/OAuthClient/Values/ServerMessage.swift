/// Text from a server, such as `error_description`. It may echo a token, so no rendering shows it.
public struct ServerMessage: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    /// Keeps at most 256 characters, without control or formatting characters.
    package init(_ text: String) {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(4_096) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: continue
            default: kept.append(scalar)
            }
            if kept.count >= 256 { break }
        }
        self.text = String(kept)
    }

    /// The text, without control characters. It may contain a token: show it to an operator who asked, and never log
    /// it.
    public func reveal() -> String { text }

    public var description: String { "<server message>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
