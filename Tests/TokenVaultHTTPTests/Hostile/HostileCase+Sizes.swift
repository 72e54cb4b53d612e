extension HostileCase {
    private static let good = HostileReply.good()

    /// Header fields that are many, long or odd.
    static let headers: [HostileCase] = [
        headed("has 10 000 header fields", (0..<10_000).map { "X-\($0): 1" }, .doubt),
        headed("has 65 header fields", (0..<64).map { "X-\($0): 1" }, .doubt),
        headed("has 64 header fields", (0..<63).map { "X-\($0): 1" }, .success),
        headed("has a header field of 60 000 bytes", ["X-Long: " + String(repeating: "y", count: 60_000)], .doubt),
        headed(
            "has 40 KiB of header fields", (0..<40).map { "X-\($0): " + String(repeating: "y", count: 1_024) }, .doubt),
        headed("has a header field name of 60 000 bytes", [String(repeating: "y", count: 60_000) + ": 1"], .doubt),
        HostileCase(
            "never ends its head",
            [
                .readRequest, .write("HTTP/1.1 200 OK\r\n"),
                .flood(Array("X-More: 0123456789\r\n".utf8), times: 1_000_000),
            ],
            .doubt),
        HostileCase(
            "never ends its status line",
            [.readRequest, .write("HTTP/1.1 200 "), .flood([UInt8](repeating: 0x41, count: 1_024), times: 100_000)],
            .doubt),
        headed("has a NUL in a header field", ["X-Odd: a\0b"], .doubt),
        headed("has a carriage return in a header field", ["X-Odd: a\rb"], .doubt),
        headed("has a bare line feed in a header field", ["X-Odd: a\nno field"], .doubt),
        headed("has a folded header field", ["X-Odd: a", " b"], .success, .doubt),
        headed("has a bidirectional override in a header field", ["X-Odd: \u{202E}a"], .success),
        headed("has terminal escapes in a header field", ["X-Odd: \u{1B}[2J"], .success, .doubt),
        headed("has a space in a header field's name", ["X Odd: a"], .doubt),
        headed("has a header line without a colon", ["nothing"], .doubt),
        headed("has an empty header field name", [": a"], .doubt),
        headed("sets cookies", ["Set-Cookie: a=b; Domain=example.com"], .success),
    ]

    /// Bodies that are long, or become long when somebody unpacks them.
    static let sizes: [HostileCase] = [
        HostileCase(
            "announces 100 MiB",
            [.readRequest, .write(HostileStep.head(200, ["Content-Length: 104857600"])), .waitForPeer], .doubt),
        HostileCase(
            "announces 100 MiB and sends them",
            [
                .readRequest, .write(HostileStep.head(200, ["Content-Length: 104857600"])),
                .flood([UInt8](repeating: 0x20, count: 65_536), times: 1_600),
            ], .doubt),
        HostileCase(
            "sends 100 MiB in chunks",
            [
                .readRequest, .write(HostileStep.head(200, ["Transfer-Encoding: chunked"])),
                .flood(Array(("10000\r\n" + String(repeating: " ", count: 65_536) + "\r\n").utf8), times: 1_600),
            ], .doubt),
        HostileCase(
            "sends 100 MiB and no length",
            [
                .readRequest, .write("HTTP/1.0 200 OK\r\n\r\n"),
                .flood([UInt8](repeating: 0x20, count: 65_536), times: 1_600),
            ], .doubt),
        HostileCase(
            "sends 10 million chunks of one byte",
            [
                .readRequest, .write(HostileStep.head(200, ["Transfer-Encoding: chunked"])),
                .flood(Array(String(repeating: "1\r\n \r\n", count: 1_000).utf8), times: 10_000),
            ], .doubt),
        HostileCase(
            "sends 100 MiB with an error status",
            [
                .readRequest, .write(HostileStep.head(400, ["Content-Length: 104857600"])),
                .flood([UInt8](repeating: 0x20, count: 65_536), times: 1_600),
            ], .doubt),
        packed("sends a gzip bomb", HostileBytes.gzipBomb, .doubt),
        packed("sends gzip that was not asked for", HostileBytes.gzippedGoodReply, .success),
        packed("calls plain text gzip", Array(good.utf8), .success),
        HostileCase(
            "names an unknown content coding", [.readRequest, .reply(200, good, "Content-Encoding: x-unknown")],
            .success),
        HostileCase(
            "sends a body of the longest length that is read",
            [.readRequest, .reply(200, good + String(repeating: " ", count: 262_144 - good.utf8.count))], .success),
        HostileCase(
            "sends a body that is one byte too long",
            [.readRequest, .reply(200, good + String(repeating: " ", count: 262_145 - good.utf8.count))], .doubt),
        HostileCase(
            "sends 256 KiB of nested lists", [.readRequest, .reply(200, String(repeating: "[", count: 262_144))], .doubt
        ),
        HostileCase(
            "sends 256 KiB of form pairs", [.readRequest, .reply(200, String(repeating: "a=&", count: 87_000))], .doubt),
        HostileCase(
            "sends 256 KiB of digits as a lifetime",
            [.readRequest, .reply(200, HostileReply.good(["expires_in": String(repeating: "9", count: 260_000)]))],
            .success),
    ]

    private static func headed(_ name: String, _ fields: [String], _ expected: Outcome...) -> HostileCase {
        let head = HostileStep.head(200, fields + ["Content-Length: \(good.utf8.count)"])
        return HostileCase(name, [.readRequest, .write(head + good)], expected)
    }

    private static func packed(_ name: String, _ body: [UInt8], _ expected: Outcome) -> HostileCase {
        HostileCase(name, [.readRequest, .reply(200, bytes: body, ["Content-Encoding: gzip"])], expected)
    }
}
