import ArgumentParser

/// A size on the command line: `512M`, `2G`.
struct ByteCount: ExpressibleByArgument {
    let bytes: Int

    init?(argument: String) {
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        guard let last = argument.last, let unit = units[last] else { return nil }
        let digits = argument.dropLast()
        // A terabyte is more than any machine provides for a passphrase, and far from an overflow.
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }), let number = Int(digits),
            number <= (1 << 40) / unit
        else { return nil }
        bytes = number * unit
    }
}
