extension HostileCase {
    private static let good = HostileReply.good()

    /// Connections that end, stall, or say too much before they say anything.
    static let transport: [HostileCase] = [
        HostileCase("accepts and never answers", [.waitForPeer], .doubt, isSlow: true),
        HostileCase("reads the request and never answers", [.readRequest, .waitForPeer], .doubt, isSlow: true),
        HostileCase("resets after the request's head", [.readHead, .reset], .doubt),
        HostileCase("resets after the whole request", [.readRequest, .reset], .doubt),
        HostileCase("closes without an answer", [.readRequest], .doubt),
        HostileCase(
            "resets after the refresh token",
            [
                .readRequest, .write(HostileStep.head(200, ["Content-Length: 500"])),
                .write("{\"refresh_token\":\"CANARY-refresh-2\","), .reset,
            ], .doubt),
        HostileCase(
            "closes after the refresh token",
            [
                .readRequest, .write(HostileStep.head(200, ["Content-Length: 500"])),
                .write("{\"refresh_token\":\"CANARY-refresh-2\","),
            ], .doubt),
        HostileCase(
            "sends the body byte by byte",
            [
                .readRequest, .write(HostileStep.head(200, ["Content-Length: \(good.utf8.count)"])),
                .drip(Array(good.utf8)),
            ], .doubt, isSlow: true),
        HostileCase(
            "sends the head byte by byte", [.readRequest, .drip(Array(HostileStep.head(200).utf8))], .doubt,
            isSlow: true),
        HostileCase(
            "sends blank lines byte by byte", [.readRequest, .drip([UInt8](repeating: 0x0A, count: 100))], .doubt,
            isSlow: true),
        HostileCase("half-closes and waits", [.readRequest, .halfClose, .waitForPeer], .doubt),
        HostileCase(
            "half-closes in mid-body and waits",
            [.readRequest, .write(HostileStep.head(200, ["Content-Length: 500"]) + "{"), .halfClose, .waitForPeer],
            .doubt),
        HostileCase(
            "answers before the request is complete", [.reply(200, good), .readRequest, .waitForPeer], .success,
            .doubt, .notSent),
        HostileCase(
            "keeps the connection open after its answer",
            [.readRequest, .reply(200, good, "Connection: keep-alive"), .waitForPeer], .success),
        HostileCase(
            "answers twice", [.readRequest, .reply(200, good), .reply(400, HostileReply.invalidGrant)], .success),
        HostileCase("answers and resets", [.readRequest, .reply(200, good), .reset], .success, .doubt),
        HostileCase(
            "says 100 Continue and answers",
            [.readRequest, .write("HTTP/1.1 100 Continue\r\n\r\n"), .reply(200, good)], .success),
        HostileCase(
            "gives early hints and answers",
            [.readRequest, .write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), .reply(200, good)], .success),
        HostileCase(
            "says 100 Continue for ever",
            [.readRequest, .flood(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), times: 4_000_000)], .doubt),
        HostileCase(
            "gives early hints for ever",
            [.readRequest, .flood(Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8), times: 4_000_000)],
            .doubt),
        HostileCase(
            "switches protocols", [.readRequest, .write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")],
            .doubt),
    ]

    /// Where a message ends.
    static let framing: [HostileCase] = [
        HostileCase(
            "has a length that is too short",
            [.readRequest, .write(HostileStep.head(200, ["Content-Length: 10"]) + good)], .doubt),
        HostileCase(
            "has a length that is too long, and closes",
            [.readRequest, .write(HostileStep.head(200, ["Content-Length: 5000"]) + good)], .doubt),
        HostileCase(
            "has a length that is too long, and waits",
            [.readRequest, .write(HostileStep.head(200, ["Content-Length: 5000"]) + good), .waitForPeer], .doubt,
            isSlow: true),
        HostileCase(
            "has both lengths",
            [
                .readRequest,
                .write(HostileStep.head(200, ["Content-Length: 5", "Transfer-Encoding: chunked"]) + chunked(good)),
            ], .doubt),
        framed("has two different lengths", ["Content-Length: 5", "Content-Length: 6"]),
        framed("has a negative length", ["Content-Length: -1"]),
        framed("has a length with a sign", ["Content-Length: +5"]),
        framed("has a length of 2^64", ["Content-Length: 18446744073709551616"]),
        framed("has a length in words", ["Content-Length: many"]),
        HostileCase(
            "has chunks, a chunk extension and a trailer",
            [
                .readRequest,
                .write(
                    HostileStep.head(200, ["Transfer-Encoding: chunked"])
                        + String(good.utf8.count, radix: 16) + ";a=b\r\n\(good)\r\n0\r\nX-Trailer: 1\r\n\r\n"),
            ], .success),
        chunks("has no last chunk", chunked(good).dropping("0\r\n\r\n".count)),
        chunks("ends in the size of the last chunk", chunked(good).dropping("\r\n\r\n".count)),
        chunks("has a chunk size of letters", "zz\r\n\(good)\r\n0\r\n\r\n"),
        chunks("has a chunk size of 2^68", "100000000000000000\r\n\(good)\r\n0\r\n\r\n"),
        chunks("has a negative chunk size", "-5\r\n\(good)\r\n0\r\n\r\n"),
        chunks("has a chunk that is longer than its size", "5\r\n\(good)\r\n0\r\n\r\n"),
        // Its zero chunk has come: trailer fields say nothing (RFC 9112 §8).
        HostileCase(
            "has an endless trailer",
            [
                .readRequest,
                .write(HostileStep.head(200, ["Transfer-Encoding: chunked"]) + chunked(good).dropping("\r\n".count)),
                .flood(Array("X-Trailer: 0123456789\r\n".utf8), times: 1_000_000),
            ], .success),
        HostileCase(
            "ends an HTTP/1.0 body by closing",
            [.readRequest, .write("HTTP/1.0 200 OK\r\n\r\n" + good)], .success),
        HostileCase(
            "cuts an HTTP/1.0 body",
            [.readRequest, .write("HTTP/1.0 200 OK\r\n\r\n" + good.dropping(1))], .doubt),
        HostileCase("speaks HTTP/0.9", [.readRequest, .write(good)], .doubt),
        HostileCase("speaks HTTP/2", [.readRequest, .write([0, 0, 0, 4, 0, 0, 0, 0, 0])], .doubt),
        HostileCase("speaks SSH", [.readRequest, .write("SSH-2.0-OpenSSH_9.2\r\n\r\n")], .doubt),
        HostileCase("speaks TLS", [.readRequest, .write([0x15, 3, 3, 0, 2, 2, 70])], .doubt),
        HostileCase("speaks HTTP/3.0", [.readRequest, .write("HTTP/3.0 200 OK\r\n\r\n")], .doubt),
    ]

    static func chunked(_ body: String) -> String { String(body.utf8.count, radix: 16) + "\r\n\(body)\r\n0\r\n\r\n" }

    private static func framed(_ name: String, _ fields: [String]) -> HostileCase {
        HostileCase(name, [.readRequest, .write(HostileStep.head(200, fields) + good)], .doubt)
    }

    private static func chunks(_ name: String, _ body: String) -> HostileCase {
        HostileCase(
            name, [.readRequest, .write(HostileStep.head(200, ["Transfer-Encoding: chunked"]) + body)], .doubt)
    }
}

extension String {
    fileprivate func dropping(_ count: Int) -> String { String(dropLast(count)) }
}
