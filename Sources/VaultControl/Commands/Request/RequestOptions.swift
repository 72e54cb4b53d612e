import ArgumentParser
import HTTPTypes
import TokenVaultHTTP

/// The content of the request.
struct RequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .long], help: .init("GET if not given; POST if there is --data.", valueName: "name"))
    var method: String?

    @Option(
        name: [.customShort("H"), .long],
        help: .init("A header field, 'Name: value'; @FILE or @- reads lines of them. Repeatable.", valueName: "field"))
    var header: [String] = []

    @Option(
        name: [.customShort("d"), .long],
        help: .init("The body; @FILE or @- reads it.", valueName: "text"))
    var data: String?

    private static let longestBody = 64 << 20
    private static let longestHeader = 65_536

    /// Header fields that vaultctl or the connection sets.
    private static let own: Set<String> = [
        "authorization", "connection", "content-length", "dpop", "expect", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    func validate() throws {
        guard !(header.contains("@-") && data == "@-") else {
            throw ValidationError("--header @- and --data @- cannot be combined: there is one standard input")
        }
    }

    /// The request without its URL.
    func content(_ console: Console) throws -> RequestContent {
        let method = try chosenMethod
        var fields = HTTPFields()
        for text in try lines(console) { fields.append(try Self.field(text)) }
        guard let data else { return RequestContent(method: method, fields: fields, body: []) }
        let body = try Self.bytes(data, "Body", from: "--data", console, atMost: Self.longestBody) ?? Array(data.utf8)
        if fields[.contentType] == nil { fields[.contentType] = "application/x-www-form-urlencoded" }
        return RequestContent(method: method, fields: fields, body: body)
    }

    private var chosenMethod: HTTPRequest.Method {
        get throws(Failure) {
            guard let method else { return data == nil ? .get : .post }
            let capitals = method.uppercased()
            if capitals != method, ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(capitals) {
                throw .usage("a method is written in capitals, and \(method) is not", hint: "use -X \(capitals)")
            }
            // A server sends back the content of TRACE, and CONNECT is for proxies.
            guard let method = HTTPRequest.Method(method), ![.trace, .connect].contains(method) else {
                throw .usage(
                    "--method \(Printable.shortened(method)) is not possible",
                    hint: "use GET, POST, PUT, PATCH, DELETE or HEAD")
            }
            return method
        }
    }

    private func lines(_ console: Console) throws -> [String] {
        try header.flatMap { text in
            guard let bytes = try Self.bytes(text, "Header", from: "--header", console, atMost: Self.longestHeader)
            else { return [text] }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Failure.usage("the header is not text")
            }
            return text.split(whereSeparator: \.isNewline).map(String.init)
        }
    }

    /// The content of `@FILE` and `@-`; nil for anything else.
    private static func bytes(
        _ text: String, _ title: String, from origin: String, _ console: Console, atMost maximum: Int
    ) throws -> [UInt8]? {
        guard text.hasPrefix("@") else { return nil }
        let path = String(text.dropFirst())
        let bytes =
            path == "-"
            ? try InputWait.during { try InputFile.readAll(console.input, title, atMost: maximum) }
            : try InputFile.read(path, title, from: origin, atMost: maximum)
        try InputFile.refuseKey(bytes, as: title, path == "-" ? " (standard input)" : " (\(Printable.path(path)))")
        return bytes
    }

    private static func field(_ text: String) throws(Failure) -> HTTPField {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
            // The value may be a secret.
            throw .usage(
                "a header field is not of the form 'Name: value'", hint: "for example: --header 'Accept: text/plain'")
        }
        guard !own.contains(name.canonicalName) else {
            throw .usage("vaultctl sets the header field \(name.rawName) itself", hint: "leave it out")
        }
        let value = parts[1].drop { $0 == " " || $0 == "\t" }
        guard HTTPField.isValidValue(String(value)) else {
            throw .usage("the value of the header field \(name.rawName) has a character that is not allowed")
        }
        return HTTPField(name: name, value: String(value))
    }
}

/// A request without its URL.
struct RequestContent {
    var method: HTTPRequest.Method
    var fields: HTTPFields
    var body: [UInt8]

    var requestBody: RequestBody { body.isEmpty ? .none : .bytes(body) }

    /// The request after a redirect (RFC 9110 §15.4): 303 asks for another resource, and browsers made that the custom
    /// for a POST answered with 301 or 302.
    func redirected(by status: Int) -> RequestContent {
        guard (status == 303 && method != .head) || (method == .post && [301, 302].contains(status)) else {
            return self
        }
        var content = self
        content.method = .get
        content.body = []
        content.fields[.contentType] = nil
        return content
    }
}
