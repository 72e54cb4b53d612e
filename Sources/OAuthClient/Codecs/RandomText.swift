/// Random bytes as base64url text, from the system's generator unless a test supplies its own.
enum RandomText {
    static func make(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return make(byteCount: byteCount, using: &generator)
    }

    static func make(byteCount: Int, using generator: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        while bytes.count < byteCount {
            // Eight bytes per call of the generator.
            var word = generator.next()
            for _ in 0..<min(8, byteCount - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return Base64URL.encode(bytes)
    }
}
