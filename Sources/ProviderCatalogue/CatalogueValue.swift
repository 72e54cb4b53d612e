/// What a catalogue holds. Scalars stay text as written: nothing in a profile needs more than words.
package indirect enum CatalogueValue: Hashable, Sendable {
    case null
    case text(String)
    case list([CatalogueValue])
    case map(CatalogueMap)

    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var list: [CatalogueValue]? { if case .list(let list) = self { list } else { nil } }
    package var map: CatalogueMap? { if case .map(let map) = self { map } else { nil } }
    /// `yes` and `on` were flags in YAML 1.1; catalogues of today mean `true`.
    package var isTrue: Bool { text == "true" }
}

/// Members in the order of the file.
package struct CatalogueMap: Hashable, Sendable {
    package private(set) var names: [String] = []
    private var values: [String: CatalogueValue] = [:]

    package init() {}

    package subscript(name: String) -> CatalogueValue? {
        get { values[name] }
        set {
            if values[name] == nil, newValue != nil { names.append(name) }
            values[name] = newValue
            if newValue == nil { names.removeAll { $0 == name } }
        }
    }
}

/// Why a catalogue cannot be read. It names the line, and quotes nothing of the file.
package struct CatalogueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1; nil for the file as a whole.
    package let line: Int?
    /// Lower case, without a full stop.
    package let message: String

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
