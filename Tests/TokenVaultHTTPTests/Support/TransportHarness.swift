import HTTPTypes
import OAuthClient
import TokenVaultHTTP

/// What came of one request: a reply or an error, never both.
enum SendResult {
    case reply(HTTPReply)
    case failure(HTTPTransportError)

    var failure: HTTPTransportError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var reply: HTTPReply? {
        if case .reply(let reply) = self { reply } else { nil }
    }
}

/// Sends a refresh-like request to a URL through a transport of its own, which is shut down afterwards.
func sendToken(
    to url: String,
    limits: HTTPLimits = .patient,
    options: AsyncHTTPTransport.Options = .loopback
) async -> SendResult {
    let transport = AsyncHTTPTransport(options: options)
    let result = await sendToken(to: url, limits: limits, through: transport)
    await transport.shutdown()
    return result
}

func sendToken(
    to url: String,
    limits: HTTPLimits = .patient,
    through transport: AsyncHTTPTransport
) async -> SendResult {
    let (scheme, rest) = url.split(at: "://")
    let (authority, path) = rest.split(at: "/")
    var request = HTTPRequest(method: .post, scheme: scheme, authority: authority, path: "/" + path)
    request.headerFields[.contentType] = "application/x-www-form-urlencoded"
    do {
        return .reply(try await transport.send(request, body: Array("grant_type=refresh_token".utf8), limits: limits))
    } catch {
        return .failure(error)
    }
}

extension HTTPLimits {
    /// For replies that come: a busy machine is no failure.
    static let patient = HTTPLimits(connectTimeout: .seconds(25), timeout: .seconds(30))
    /// For replies that never come.
    static let impatient = HTTPLimits(connectTimeout: .seconds(25), timeout: .seconds(3))
    /// For connections that never come about.
    static let impatientToConnect = HTTPLimits(connectTimeout: .seconds(1), timeout: .seconds(30))
}

extension AsyncHTTPTransport.Options {
    static let loopback = AsyncHTTPTransport.Options(allowsInsecureLoopback: true)
}

extension String {
    fileprivate func split(at separator: String) -> (String, String) {
        guard let found = firstRange(of: separator) else { return (self, "") }
        return (String(self[..<found.lowerBound]), String(self[found.upperBound...]))
    }
}
