/// RFC 8707.
enum ResourceIndicators {
    /// Those that a token is for. A request may ask for fewer than were authorized, never for others (§2.2); where none
    /// were named, any that the server knows may be asked for.
    static func narrowed(_ authorized: [String], to requested: [String]) throws(OAuthError) -> [String] {
        if requested.isEmpty { return authorized }
        guard authorized.isEmpty || requested.allSatisfy(authorized.contains) else {
            throw .invalidTarget("the resource was not authorized", reason: "wider resource")
        }
        return requested
    }

    /// §2: an absolute URI without a fragment.
    static func isWellFormed(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
            && scheme.utf8.count + 1 < text.utf8.count && scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
    }
}
