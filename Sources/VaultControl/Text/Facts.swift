/// What is to be told of one thing, as pairs of a name and a value.
struct Facts {
    private var pairs: [(name: String, value: String)] = []

    /// Adds a line, unless there is nothing to tell.
    mutating func add(_ name: String, _ value: String?) {
        if let value {
            pairs.append((name, value))
        }
    }

    func text(isTerminal: Bool, style: Style) -> String {
        guard isTerminal else {
            return pairs.map { "\($0.name)\t\(Printable.escape($0.value))\n" }.joined()
        }
        let width = pairs.reduce(0) { max($0, $1.name.count) }
        return pairs.map { pair in
            let padding = String(repeating: " ", count: width - pair.name.count + 2)
            return style.dim(pair.name) + padding + Printable.shortened(pair.value, to: 512) + "\n"
        }.joined()
    }
}
