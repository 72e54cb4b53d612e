/// Random bytes as base64url text, from the system's generator unless a test brings its own.
enum RandomText {
    static func make(byteCount: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return make(byteCount: byteCount, using: &generator)
    }

    static func make(byteCount: Int, using generator: inout some RandomNumberGenerator) -> String {
        Base64URL.encode((0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
