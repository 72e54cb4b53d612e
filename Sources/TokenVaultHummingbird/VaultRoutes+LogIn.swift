public import Hummingbird
import OAuthClient
public import TokenVault

extension VaultRoutes {
    /// Adds `/login` and the callbacks.
    public func addLogIn(to router: some RouterMethods<Context>) {
        let group = answering(router)
        group.get(RouterPath(prefix + "/login")) { request, context in try await logIn(request, context) }
        let callbacks = Dictionary(grouping: providers) { $0.redirectURI.webLocation?.path ?? "/" }
        for (path, providers) in callbacks {
            let url = providers[0].redirectURI.rawValue.prefix { $0 != "?" }
            group.get(RouterPath(path)) { request, context in try await complete(request, context, at: url) }
        }
    }

    /// Begins a log-in of yours, such as one with a scope, a label or a hint: the answer redirects the browser to the provider,
    /// and has the cookie. Give the log-in the redirect URI of these routes.
    public func begin(_ logIn: LogInRequest, _ request: Request) async throws -> Response {
        let begun = try await users.beginLogIn(logIn)
        var response = Response.redirection(begun.url)
        // Browsers send the oldest cookies first (RFC 6265 §5.4), and a service refuses a request with too many.
        for name in bindings(of: request).dropLast(4) { response.setCookie(cookie(name, "")) }
        response.setCookie(cookie(bindingPrefix + begun.state, begun.binding.reveal()))
        return response
    }

    func answering(_ router: some RouterMethods<Context>) -> RouterGroup<Context> {
        router.group().add(middleware: VaultErrorMiddleware(answer: answer))
    }

    func provider(named name: String?) throws -> (name: String, redirectURI: RedirectURI) {
        guard let provider = providers.first(where: { name?.utf8.elementsEqual($0.name.utf8) ?? false }) else {
            throw VaultError(.unknownProvider, "no such provider is offered here")
        }
        return provider
    }

    /// The context of a log-in that leads to `returnTo`.
    func returnTo(of request: Request) throws -> [String: String] {
        guard let text = request.uri.queryParameters["returnTo"] else { return [:] }
        guard let path = text.localPath else {
            throw VaultError(.invalidArgument, "returnTo is not a path of this service")
        }
        return ["returnTo": path]
    }

    private func logIn(_ request: Request, _ context: Context) async throws -> Response {
        guard let user = try await signedIn(request, context) else { return try await notSignedIn(request, context) }
        let provider = try provider(
            named: request.uri.queryParameters["provider"].map(String.init) ?? providers.first?.name)
        return try await begin(
            LogInRequest(
                userId: user, provider: provider.name, redirectURI: provider.redirectURI,
                context: returnTo(of: request)), request)
    }

    private func complete(_ request: Request, _ context: Context, at url: Substring) async throws -> Response {
        guard let state = request.uri.queryParameters["state"],
            let name = bindings(of: request).first(where: { $0 == bindingPrefix + state }),
            let binding = request.cookies[name].flatMap({ try? BrowserBinding($0.value) })
        else { throw VaultError(.logInNotBound, "this browser did not begin this log-in, or began it too long ago") }
        // The router has compared the path, and the host may be a proxy's.
        let done = try await users.completeLogIn(
            .url("\(url)?\(request.uri.query ?? "")"), boundTo: binding,
            expectedUserId: try await signedIn(request, context))
        var response = try await afterLogIn(done, request, context)
        response.setCookie(cookie(name, ""))
        return response
    }

    private var isSecure: Bool { origin.hasPrefix("https:") }
    private var bindingPrefix: String { isSecure ? "__Host-login-" : "login-" }

    /// The names of the cookies of log-ins.
    private func bindings(of request: Request) -> [String] {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
            .map { pair in String(pair.drop { $0 == " " }.prefix { $0 != "=" }) }
            .filter { $0.hasPrefix(bindingPrefix) }
    }

    /// - Parameter value: Empty: the browser forgets the cookie.
    private func cookie(_ name: String, _ value: String) -> Cookie {
        let lifetime = value.isEmpty ? 0 : Int(users.context.options.logInLifetime.components.seconds)
        return Cookie(
            name: name, value: value, maxAge: lifetime, path: "/", secure: isSecure, httpOnly: true, sameSite: .lax)
    }
}

extension StringProtocol {
    /// The text, if it is a path of this service, to which a redirect may lead. Browsers read `//host` and `/\host` as another
    /// host, and skip line breaks and tabs.
    var localPath: String? {
        let isPlain = utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        return isPlain && utf8.count <= 1_024 && hasPrefix("/") && !hasPrefix("//") ? String(self) : nil
    }
}

extension Response {
    static func json(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    static func redirection(_ url: String) -> Response {
        Response(status: .seeOther, headers: [.location: url, .cacheControl: "no-store"])
    }
}
