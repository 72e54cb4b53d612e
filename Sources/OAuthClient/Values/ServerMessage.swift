/// Words from a server, such as `error_description`. They may echo a token, so no rendering shows them.
public struct ServerMessage: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    /// Keeps at most 256 characters, and neither control nor formatting characters.
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

    /// The words, without control characters. They may hold a token: show them to an operator who asked, log them never.
    public func reveal() -> String { text }

    public var description: String { "<server message>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
