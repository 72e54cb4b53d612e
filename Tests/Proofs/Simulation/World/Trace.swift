/// What was decided, step by step. The hash is always there; the lines only when somebody wants to read them.
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    let isPrinted: Bool

    /// Takes part in the hash.
    mutating func note(
        _ kind: StaticString, _ first: Int = 0, _ second: Int = 0, at time: Int64,
        _ detail: @autoclosure () -> String = ""
    ) {
        mix(UInt64(kind.utf8CodeUnitCount))
        kind.withUTF8Buffer { bytes in
            for index in bytes.indices { mix(UInt64(unsafe bytes[index])) }
        }
        mix(UInt64(bitPattern: Int64(first)))
        mix(UInt64(bitPattern: Int64(second)))
        mix(UInt64(bitPattern: time))
        if isPrinted { Self.print(time, "\(kind) \(first) \(second) \(detail())") }
    }

    /// For readers only.
    func remark(at time: Int64, _ text: @autoclosure () -> String) {
        if isPrinted { Self.print(time, "    " + text()) }
    }

    private static func print(_ time: Int64, _ text: String) {
        let milliseconds = String(time)
        let padding = String(repeating: " ", count: max(0, 9 - milliseconds.utf8.count))
        Swift.print(padding + milliseconds + "  " + text)
    }

    private mutating func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01B3 }
}
