public import HTTPTypes
public import OAuthClient
public import TokenVault

extension AuthorizingClient {
    /// Gets a URL with a token of this login.
    ///
    /// ```swift
    /// struct Profile: Decodable {
    ///     var name: String
    /// }
    ///
    /// let client = AuthorizingClient(users: users)
    /// let profile = try await client.get("https://api.example/me", for: .user("alice")).json(as: Profile.self)
    /// ```
    ///
    /// - Parameters:
    ///   - url: The whole URL, percent-encoded. User information and fragments are refused.
    ///   - headers: The request's header fields.
    ///   - login: Whose token it carries.
    ///   - tokenRequest: The purpose of the token.
    /// - Throws: As ``send(_:body:for:_:)``; `VaultError`, code `invalidArgument`, for a URL that is not one.
    public func get(
        _ url: String, headers: HTTPFields = [:], for login: LoginRef, _ tokenRequest: TokenRequest = TokenRequest()
    ) async throws -> ResourceResponse {
        try await send(.get, url, headers: headers, for: login, tokenRequest)
    }

    /// Sends a request to a URL with a token of this login. See ``get(_:headers:for:_:)``.
    ///
    /// ```swift
    /// let client = AuthorizingClient(users: users)
    /// let response = try await client.send(
    ///     .post, "https://api.example/notes", body: .json(["text": "buy milk"]), for: .user("alice"))
    /// ```
    public func send(
        _ method: HTTPRequest.Method, _ url: String, headers: HTTPFields = [:], body: RequestBody = .none,
        for login: LoginRef, _ tokenRequest: TokenRequest = TokenRequest()
    ) async throws -> ResourceResponse {
        try await send(HTTPRequest(method, url, headers), body: body, for: login, tokenRequest)
    }

    /// Sends a request to a URL with a token of the client itself. See ``send(_:body:asClientOf:_:parameters:)``.
    public func send(
        _ method: HTTPRequest.Method, _ url: String, headers: HTTPFields = [:], body: RequestBody = .none,
        asClientOf provider: String, _ tokenRequest: TokenRequest = TokenRequest(), parameters: [FormParameter] = []
    ) async throws -> ResourceResponse {
        try await send(
            HTTPRequest(method, url, headers), body: body, asClientOf: provider, tokenRequest, parameters: parameters)
    }
}

extension HTTPRequest {
    /// - Throws: `VaultError`, which repeats nothing of the URL: it may contain a secret.
    fileprivate init(_ method: Method, _ url: String, _ headers: HTTPFields) throws {
        do throws(OAuthValueError) {
            let target = try EndpointURL(url, allowsInsecureLoopback: true)
            self.init(
                method: method, scheme: target.scheme, authority: target.authority, path: target.requestTarget,
                headerFields: headers)
        } catch {
            guard error.code != .insecure else { throw UserManager.noTarget }
            throw VaultError(
                .invalidArgument, "this is not the URL of an API",
                hint: "give all of it, percent-encoded, without user and fragment: https://api.example/me")
        }
    }
}
