import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient

/// The target of a request, after checking that it is allowed.
struct RequestTarget {
    let url: String
    let host: String
    /// Plain `http` to this machine.
    let isPlain: Bool

    /// - Throws: A `notSent` error for a scheme other than `https` (or `http` to this machine, where allowed) and for
    ///   an authority that is not just a host and a port.
    init(_ request: HTTPRequest, allowsInsecureLoopback: Bool) throws(HTTPTransportError) {
        guard let authority = request.authority, let host = Self.host(of: authority) else {
            throw HTTPTransportError(.notSent, .refused)
        }
        self.host = String(host)
        switch request.scheme?.lowercased() {
        case "https":
            url = "https://" + authority + (request.path ?? "/")
            isPlain = false
        case "http" where allowsInsecureLoopback && Self.isLoopback(host):
            url = "http://" + authority + (request.path ?? "/")
            isPlain = true
        default:
            throw HTTPTransportError(.notSent, .refused)
        }
    }

    /// The request for AsyncHTTPClient, which closes its connection after the reply.
    func clientRequest(
        _ request: HTTPRequest,
        body: [UInt8],
        userAgent: String
    ) throws(HTTPTransportError) -> HTTPClient.Request {
        var headers = HTTPHeaders(request.headerFields.map { ($0.name.rawName, $0.value) })
        headers.replaceOrAdd(name: "Connection", value: "close")
        if !headers.contains(name: "User-Agent") {
            headers.add(name: "User-Agent", value: userAgent)
        }
        // Nothing is decompressed here, and without this field a server may compress its reply (RFC 9110 §12.5.3).
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "identity") }
        do {
            return try HTTPClient.Request(
                url: url,
                method: HTTPMethod(rawValue: request.method.rawValue),
                headers: headers,
                body: body.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: body))
            )
        } catch {
            throw HTTPTransportError(.notSent, .refused)
        }
    }

    /// The host of `host`, `host:port` or `[address]:port`; nil for anything else, above all for `user@host`.
    private static func host(of authority: String) -> String? { address(of: authority)?.host }

    /// The same with the port, if there is one.
    static func address(of authority: String) -> (host: String, port: Int?)? {
        var rest = Substring(authority)
        let host: Substring
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard host.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest[host.endIndex...]
            guard host.utf8.allSatisfy(Self.isHostByte) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if rest.isEmpty { return (String(host), nil) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()) else { return nil }
        return (String(host), Int(port))
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }

    /// Names that cannot leave this machine (RFC 8252 section 8.3 prefers the addresses).
    private static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" {
            return true
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
