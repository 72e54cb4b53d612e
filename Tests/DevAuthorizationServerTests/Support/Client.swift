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
    /// Signs an assertion for each request, if there is one.
    var assertionKey: TestKey?

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

    /// A client that is registered by `RegisteredClient.jwt`.
    static func jwt(_ server: DevAuthorizationServer, _ key: TestKey) -> Client {
        var client = Client(server)
        client.id = "demo-jwt"
        client.credentials = []
        client.assertionKey = key
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
        if let assertionKey { parameters += try assertionKey.assertion(of: id, for: server.issuer) }
        for (name, value) in changes {
            parameters.removeAll { $0.0 == name }
            if let value { parameters.append((name, value)) }
        }
        return try await Wire.post(tokenURL, parameters, headers: headers + (proof.map { [("DPoP", $0)] } ?? []))
    }

    /// Pushes an authorization request.
    func push(_ changes: [(String, String?)] = [], proof: String? = nil) async throws -> WireReply {
        var parameters = authorizationParameters(changes) + credentials.filter { $0.0 != "client_id" }
        if let assertionKey { parameters += try assertionKey.assertion(of: id, for: server.issuer) }
        return try await Wire.post(
            server.base + "/par", parameters, headers: headers + (proof.map { [("DPoP", $0)] } ?? []))
    }

    /// What the browser does with a pushed request.
    func authorize(requestURI: String, client: String? = nil, _ more: [(String, String)] = []) async throws -> WireReply
    {
        let parameters = [("client_id", client ?? id), ("request_uri", requestURI)] + more
        return try await Wire.get(server.base + "/authorize?" + Wire.form(parameters))
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

extension RegisteredClient {
    static func jwt(_ key: TestKey) throws -> RegisteredClient {
        let jwk = try String(decoding: JSON.encode(key.jwk), as: UTF8.self)
        return RegisteredClient(
            id: "demo-jwt", authentication: .privateKeyJWT(try #require(RegisteredKey(jwk: jwk))))
    }
}

func withServer(
    _ change: (inout AuthorizationServerConfiguration) throws -> Void = { _ in },
    _ body: (DevAuthorizationServer) async throws -> Void
) async throws {
    var configuration = AuthorizationServerConfiguration()
    try change(&configuration)
    try await DevAuthorizationServer.withRunningServer(configuration, body)
}
