import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A response as the tests look at it.
struct WireReply: Sendable {
    let status: Int
    private let headers: HTTPHeaders
    let body: [UInt8]

    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    func header(_ name: String) -> String? { headers.first(name: name) }

    func allHeaders(_ name: String) -> [String] { headers[name] }

    var text: String { String(decoding: body, as: UTF8.self) }

    var json: [String: Any] { get throws { try JSON.object(body) } }

    func string(_ member: String) throws -> String? { try json[member] as? String }

    /// `error` of the body.
    var error: String? { try? string("error") }

    /// The parameters of a redirect's query.
    var redirectParameters: [String: String] {
        guard let location = header("location"), let items = URLComponents(string: location)?.queryItems
        else { return [:] }
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first + " (twice)" }
    }
}

/// Requests over real HTTP, without redirects and without help from the code under test.
enum Wire {
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Also the time that a request may wait for one of these.
        configuration.timeout.connect = .hours(1)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    static func send(
        _ method: String, _ url: String, headers: [(String, String)] = [], body: String? = nil,
        timeout: TimeAmount = .hours(1)
    ) async throws -> WireReply {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: timeout)
        var bytes: [UInt8] = []
        for try await chunk in response.body { bytes += chunk.readableBytesView }
        return WireReply(status: Int(response.status.code), headers: response.headers, body: bytes)
    }

    static func get(_ url: String, headers: [(String, String)] = []) async throws -> WireReply {
        try await send("GET", url, headers: headers)
    }

    static func post(
        _ url: String, _ parameters: [(String, String)], headers: [(String, String)] = []
    ) async throws -> WireReply {
        let type = [("Content-Type", "application/x-www-form-urlencoded")]
        return try await send("POST", url, headers: type + headers, body: form(parameters))
    }

    static func form(_ parameters: [(String, String)]) -> String {
        parameters.map { escape($0.0) + "=" + escape($0.1) }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
