import TestSupport

/// Random numbers that are the same for the same seed (SplitMix64), and draws from them.
package struct SeededRandom: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1)
    }

    package mutating func next() -> UInt64 { generator.next() }

    /// In 0..<bound. The bias does not matter here.
    mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() >> 1) % bound }

    mutating func between(_ low: Int, _ high: Int) -> Int { low + below(high - low + 1) }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    /// One of them, each as often as its weight says.
    mutating func weighted<T>(_ choices: [(weight: Int, value: T)]) -> T {
        var rest = below(choices.reduce(0) { $0 + $1.weight })
        for choice in choices {
            if rest < choice.weight { return choice.value }
            rest -= choice.weight
        }
        return choices[choices.count - 1].value
    }
}
