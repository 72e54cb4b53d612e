import FoundationEssentials
import HTTPTypes
import TokenVaultHTTP

/// An API's reply on standard output: unchanged in a pipe; without terminal commands on a terminal.
struct ReplyPrinter {
    /// The limit for a terminal or a JSON document. In a pipe there is none.
    private static let longest = 16 << 20

    let includesHead: Bool
    let invocation: Invocation

    func print(_ response: ResourceResponse) async throws {
        if invocation.isJSON { return try await printDocument(response) }
        if includesHead { try write(head(response.head)) }
        if invocation.isTerminal { return try await printText(response) }
        for try await piece in response.body { try invocation.console.write(piece, to: .output) }
    }

    private func write(_ text: String) throws {
        try invocation.console.write(invocation.isTerminal ? Printable.lines(text) : text, to: .output)
    }

    private func head(_ head: HTTPResponse) -> String {
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
        return "HTTP/1.1 \(head.status.code)\n\(fields)\n"
    }

    private func printText(_ response: ResourceResponse) async throws {
        let hint = "send the output to a file or a pipe"
        let bytes = try await collect(response, hint: hint)
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure.usage("the reply's body is not text (\(Count.of(bytes.count, "byte")))", hint: hint)
        }
        try write(text.isEmpty || text.hasSuffix("\n") ? text : text + "\n")
    }

    private func printDocument(_ response: ResourceResponse) async throws {
        let bytes = try await collect(response, hint: "leave --json out")
        let text = String(validating: bytes, as: UTF8.self)
        let fields: [OutputRecord] = response.head.headerFields.map {
            [.data("name", $0.name.rawName), .data("value", $0.value)]
        }
        try invocation.emit([
            .data("status", response.head.status.code), .data("headers", fields), .data("body", text),
            .data("bodyBase64", text == nil ? Data(bytes).base64EncodedString() : nil),
        ])
    }

    private func collect(_ response: ResourceResponse, hint: String) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in response.body {
            bytes += piece
            guard bytes.count <= Self.longest else {
                throw Failure(
                    .provider, code: "replyTooLong", "the reply's body is longer than \(Self.longest >> 20) MiB",
                    hints: [hint])
            }
        }
        return bytes
    }
}
