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
}
