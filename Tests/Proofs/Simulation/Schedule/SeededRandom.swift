/// Random numbers that are the same for the same seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

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
