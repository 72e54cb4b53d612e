import Crypto
import DevAuthorizationServer
import Foundation
import Testing

/// Plays a client of the server, step by step.
struct Client: Sendable {
    static let redirectURI = "http://127.0.0.1:5123/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = base64URL(SHA256.hash(data: Data(verifier.utf8)))

    let server: DevAuthorizationServer
    var id = "demo"
    /// Body parameters or headers by which the client says who it is.
    var credentials: [(String, String)] = [("client_id", "demo")]
    var headers: [(String, String)] = []

    init(_ server: DevAuthorizationServer) {
        self.server = server
    }

    static func basic(_ server: DevAuthorizationServer, secret: String = "demo-basic-secret") -> Client {
        var client = Client(server)
        client.id = "demo-basic"
        client.credentials = []
        client.headers = [("Authorization", "Basic " + Data("demo-basic:\(secret)".utf8).base64EncodedString())]
        return client
    }

    static func post(_ server: DevAuthorizationServer, secret: String = "demo-post-secret") -> Client {
        var client = Client(server)
        client.id = "demo-post"
        client.credentials = [("client_id", "demo-post"), ("client_secret", secret)]
        return client
    }

    var tokenURL: String { server.base + "/token" }

    /// A good authorization request; `nil` takes a parameter out.
    func authorizationParameters(_ changes: [(String, String?)] = []) -> [(String, String)] {
        var parameters: [(String, String)] = [
            ("response_type", "code"), ("client_id", id), ("redirect_uri", Self.redirectURI), ("scope", "read write"),
            ("state", "s t&te"), ("code_challenge", Self.challenge), ("code_challenge_method", "S256"),
            ("login_hint", "alice"),
        ]
        for (name, value) in changes {
            parameters.removeAll { $0.0 == name }
            if let value { parameters.append((name, value)) }
        }
        return parameters
    }

    func authorize(_ changes: [(String, String?)] = []) async throws -> WireReply {
        try await Wire.get(server.base + "/authorize?" + Wire.form(authorizationParameters(changes)))
    }

    func code(_ changes: [(String, String?)] = []) async throws -> String {
        try #require(try await authorize(changes).redirectParameters["code"])
    }

    func exchange(
        _ code: String, _ changes: [(String, String?)] = [], proof: String? = nil
    ) async throws -> WireReply {
        try await token(
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI),
                ("code_verifier", Self.verifier),
            ], changes, proof: proof)
    }

    func refresh(
        _ token: String, _ changes: [(String, String?)] = [], proof: String? = nil
    ) async throws -> WireReply {
        try await self.token([("grant_type", "refresh_token"), ("refresh_token", token)], changes, proof: proof)
    }

    func token(
        _ parameters: [(String, String)], _ changes: [(String, String?)] = [], proof: String? = nil
    ) async throws -> WireReply {
        var parameters = parameters + credentials
        for (name, value) in changes {
            parameters.removeAll { $0.0 == name }
            if let value { parameters.append((name, value)) }
        }
        return try await Wire.post(tokenURL, parameters, headers: headers + (proof.map { [("DPoP", $0)] } ?? []))
    }

    /// Code flow to the end: access and refresh token.
    func logIn(
        user: String = "alice", _ changes: [(String, String?)] = [], proof: String? = nil
    ) async throws -> (access: String, refresh: String) {
        let reply = try await exchange(try await code([("login_hint", user)] + changes), proof: proof)
        return (try #require(try reply.string("access_token")), try #require(try reply.string("refresh_token")))
    }

    func resource(_ authorization: String?, proof: String? = nil) async throws -> WireReply {
        var headers: [(String, String)] = []
        if let authorization { headers.append(("Authorization", authorization)) }
        if let proof { headers.append(("DPoP", proof)) }
        return try await Wire.get(server.base + "/resource", headers: headers)
    }
}

func withServer(
    _ change: (inout AuthorizationServerConfiguration) -> Void = { _ in },
    _ body: (DevAuthorizationServer) async throws -> Void
) async throws {
    var configuration = AuthorizationServerConfiguration()
    change(&configuration)
    try await DevAuthorizationServer.withRunningServer(configuration, body)
}
