// What the pages take for granted, for scripts/swift-blocks: alice, who is logged in at acme, and a service around her.

import BlockWorld
import Foundation
import Logging
import OAuthClient
import ServiceLifecycle
import Synchronization
import TokenVault
import TokenVaultHTTP

public func prepare(createsVault: Bool) async throws {
    let home = try await Home.prepare(createsVault: createsVault)
    // The browser is at a callback for the blocks that only complete a log-in.
    _ = try await home.users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
}

var vault: Vault { Home.current.vault }
var users: UserManager { Home.current.users }
var login: Login { Home.current.login }
var transport: AsyncHTTPTransport { Home.current.transport }
let path = "var/lib/app/tokens.vault"
let newSecret: ClientSecret = made { try ClientSecret("demo-basic-secret") }

// The transports of the pages lead to the world. Everything else about them is as it is.
extension AsyncHTTPTransport {
    convenience init() { self.init(inWorld: Options()) }
    convenience init(options: Options) { self.init(inWorld: options) }
}

extension AuthorizingClient {
    convenience init(users: UserManager) { self.init(inWorldOf: users) }
}

// A log-in that begins is followed by alice's browser, or approved on her phone.
extension UserManager {
    func beginLogIn(_ request: LogInRequest) async throws -> AuthorizationRequest {
        let begun = try await self.TokenVault::beginLogIn(request)
        try await Browser.follow(begun.url, cookie: begun.binding.reveal())
        return begun
    }

    func beginDeviceLogIn(_ request: LogInRequest) async throws -> DeviceLogIn {
        let begun = try await self.TokenVault::beginDeviceLogIn(request)
        try await Network.control("devices/\(begun.userCode)/approve", #"{"user": "alice"}"#)
        return begun
    }
}

// For those who handle the log-in themselves.
let verifier = CodeVerifier.random()
func getCode() async throws { try await Browser.getCode(for: "demo-basic", verifier) }
var code: AuthorizationCode { made { try AuthorizationCode(Browser.code) } }

// A service, its sessions and its log.
let server: any Service = Server()
let logger = Logger(label: "blocks", factory: { _ in SwiftLogNoOpLogHandler() })
let session = Session()
var callbackURL: String { Browser.callback }
var url: String { Browser.callback }
var cookie: String { Browser.cookie }
func log(_ text: String) { Heard.note("log") }
func print(_ items: Any...) { Heard.note("print") }

struct Session {
    var userId = "alice"
}

struct Server: Service {
    func run() async throws {
        Heard.note("server")
        try await gracefulShutdown()
    }
}

// Requests to an API.
private let nextRequest = Mutex(
    HTTPRequest(method: .get, scheme: "https", authority: "api.acme.example", path: "/me"))
var request: HTTPRequest {
    get { nextRequest.withLock { $0 } }
    set { nextRequest.withLock { $0 = newValue } }
}
func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await Network.send(request).response }

func show(_ code: String, at place: String) { Heard.note("show") }

// The app that hears of events.
func askToLogIn(_ user: String, _ reason: RefreshFailure.Reason) { Heard.note("askToLogIn") }
func lookAgain() { Heard.note("lookAgain") }
let saved: EventCursor? = nil
func save(_ cursor: EventCursor) async throws { Heard.note("save") }

/// acme ends what alice granted, and the next one who wants her token finds out. If it had ended before, she logs in
/// first.
func endGrant() async throws {
    if try await vault.login(login.id).failure != nil {
        let again = try await users.beginLogIn(LogInRequest(into: .login(login.id)))
        _ = try await users.completeLogIn(.url(Browser.callback), boundTo: again.binding)
    }
    try await Network.control("users/alice/revoke")
    do {
        _ = try await users.accessToken(for: .login(login.id), .renewed)
    } catch let error as VaultError where error.code == .refreshFailed {}
}

/// From now on alice's login is one without a refresh token, whose tokens come from the app.
func replaceLogin(expiresIn seconds: TimeInterval) async throws {
    try await users.eraseUser("alice")
    let login = try await users.addLogin(
        userId: "alice", accessToken: AccessToken("older-token"), expiresAt: Date().addingTimeInterval(seconds))
    Home.current.login = login
}

let contoso = Tenant("contoso")

/// The login of an alice who is a tenant's.
@discardableResult
func addLoginOfContoso(_ userId: String = "alice") async throws -> LoginID {
    guard let contoso else { throw WorldError("no tenant") }
    let users = users.scoped(to: contoso)
    if try await vault.providers(of: contoso).isEmpty {
        try await users.addProvider(
            "acme", issuer: "https://login.acme.example", clientID: "contoso-app",
            redirectURI: "https://app.example/callback")
    }
    return try await users.addLogin(
        userId: userId, provider: "acme", accessToken: AccessToken("token-of-contoso"),
        expiresAt: Date().addingTimeInterval(3_600)
    ).id
}

/// As the system does that stops a service.
func stopProgram() { kill(ProcessInfo.processInfo.processIdentifier, SIGTERM) }

// Its own server, mail and secrets.
let ourServer = OurServer()
let mail = Mail()
let client = SecretsClient()

struct OurServer: Sendable {
    func authToken(for user: String) async throws -> AuthToken { try AuthToken("newer-token") }
    func newToken(for user: String) async throws -> (value: AccessToken, end: Date)? {
        Heard.note("newToken")
        return (try AccessToken("newer-token"), Date().addingTimeInterval(3_600))
    }
}

struct Mail: Sendable {
    func askToLogInAgain(_ user: String, of tenant: Tenant? = nil) async { Heard.note("mail") }
    func withdraw(_ user: String) async { Heard.note("withdraw") }
}

struct SecretsClient: Sendable {
    func secret(_ name: String) async throws -> String {
        try String(contentsOfFile: "etc/app/vault.key", encoding: .utf8)
    }
}

struct Database: Sendable {
    func queueMail(to user: String) async throws { Heard.note("mail") }
    func dropMail(to user: String) async throws { Heard.note("withdraw") }
}

// A client that is generated from an OpenAPI document, by swift-openapi-runtime.
protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}

final class HTTPBody: Sendable {
    enum IterationBehavior {
        case single
        case multiple
    }

    let iterationBehavior = IterationBehavior.multiple
}

let apiBase = made {
    guard let url = URL(string: "https://api.acme.example") else { throw WorldError("no URL") }
    return url
}

/// As the client's transport does: the request has only its path.
func send(atAPI request: HTTPRequest) async throws -> HTTPResponse {
    var request = request
    (request.scheme, request.authority) = ("https", "api.acme.example")
    return try await send(request)
}

// The same for pages that answer with a status and header fields: the browser follows a redirect, and keeps the cookie.
private let jar = Mutex("")
func follow(_ response: HTTPResponse) async throws {
    let cookie = response.headerFields[.setCookie]?.prefix { $0 != ";" } ?? ""
    jar.withLock { $0 = String(cookie) }
    try await Browser.follow(response.headerFields[.location] ?? "", cookie: "")
}
var callbackRequest: HTTPRequest {
    let path = "/callback?" + (Browser.callback.split(separator: "?", maxSplits: 1).last ?? "")
    return HTTPRequest(
        method: .get, scheme: "https", authority: "app.example", path: path,
        headerFields: [.cookie: jar.withLock { $0 }])
}
