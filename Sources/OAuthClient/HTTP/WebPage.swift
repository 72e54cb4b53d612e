extension [UInt8] {
    /// Whether a body is a page for people, in place of a reply.
    package var isWebPage: Bool {
        let start = String(decoding: drop { $0 <= 0x20 }.prefix(16), as: UTF8.self).lowercased()
        return ["<!doctype html", "<html"].contains(where: start.hasPrefix)
    }
}
