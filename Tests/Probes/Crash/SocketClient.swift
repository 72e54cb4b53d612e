import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Platform
import TokenVault
import VaultServer

/// A program that asks the vault's server in the same process over its socket, so that what strikes the server strikes it in
/// the middle of an answer.
struct SocketClient {
    struct Refused: Error { let status: UInt }

    private struct Authorized: Decodable {
        let headers: [String: String]
        let login: String
        let generation: Int
    }

    private struct Report: Encodable {
        let login: String
        let generation: Int
        let method = "GET"
        let url = "https://api.example/"
        let status = 401
        let headers: [String: String]
    }

    private let http: HTTPClient
    private let socket: String

    /// Gets the header fields of a request, and says that the API has refused their token, which is then renewed.
    static func renew(_ user: String, _ users: UserManager, socket path: String) async throws {
        let server = VaultServer(users: users, policy: try policy)
        let socket = try ListeningSocket(replacing: path, permissions: 0o600, group: nil)
        let serving = Task { try await server.run(on: [("main", socket)]) }
        let http = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup)
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self(http: http, socket: path.replacing("/", with: "%2F")).renew(user))
        } catch { result = .failure(error) }
        try await http.shutdown()
        serving.cancel()
        try await serving.value
        try result.get()
    }

    private func renew(_ user: String) async throws {
        let text = try await post(
            "/v1/authorize", Data(#"{"user":"\#(user)","method":"GET","url":"https://api.example/"}"#.utf8))
        let authorized = try JSONDecoder().decode(Authorized.self, from: text)
        let scheme = authorized.headers.keys.contains("DPoP") ? "DPoP" : "Bearer"
        let report = Report(
            login: authorized.login, generation: authorized.generation,
            headers: ["WWW-Authenticate": "\(scheme) error=\"invalid_token\""])
        say(String(decoding: try await post("/v1/result", JSONEncoder().encode(report)), as: UTF8.self))
    }

    private static var policy: ServePolicy {
        get throws {
            try ServePolicy(
                """
                [[client]]
                name = "probe"
                uid = \(UserID.current.number)
                verbs = ["authorize"]
                users = ["*"]
                providers = ["*"]
                origins = ["*"]
                methods = ["*"]
                """)
        }
    }

    private func post(_ path: String, _ body: Data) async throws -> Data {
        var request = HTTPClientRequest(url: "http+unix://\(socket)\(path)")
        request.method = .POST
        request.headers = ["Host": "tokenvault", "Content-Type": "application/json"]
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await http.execute(request, timeout: .seconds(110))
        let text = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        guard response.status == .ok else { throw Refused(status: response.status.code) }
        return text
    }
}
