/// The number of characters to insert, remove, replace or swap with a neighbour: `josn` has distance one.
enum EditDistance {
    static func between(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        guard one.count <= 32, other.count <= 32 else { return .max }
        // Two rows back: a swap spans two characters.
        var (before, last) = ([Int](), Array(0...other.count))
        for (index, character) in one.enumerated() {
            var row = [index + 1]
            for column in other.indices {
                let replaced = last[column] + (other[column] == character ? 0 : 1)
                var least = min(replaced, row[column] + 1, last[column + 1] + 1)
                if index > 0, column > 0, character == other[column - 1], one[index - 1] == other[column] {
                    least = min(least, before[column - 1] + 1)
                }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[other.count]
    }

    /// The names that the typed one was probably meant as: the same in other capitals, or a typo away.
    static func near(_ typed: String, among names: [String]) -> [String] {
        let word = typed.lowercased()
        let ranked = names.map { (name: $0, distance: between($0.lowercased(), word)) }
        let least = ranked.map(\.distance).min() ?? .max
        guard least <= (word.count < 6 ? 1 : 2), least < word.count - 1 else { return [] }
        return Array(ranked.filter { $0.distance == least }.map(\.name).prefix(4))
    }
}
