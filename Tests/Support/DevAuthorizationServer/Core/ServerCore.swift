import HTTPTypes
import Synchronization

/// The running server without its sockets: requests in, replies out.
final class ServerCore: Sendable {
    let configuration: AuthorizationServerConfiguration
    /// RFC 8414 §2.
    let issuer: String
    /// What every URL of ours begins with.
    let base: String
    let port: Int
    /// What the URL of every endpoint begins with for clients that show a certificate.
    let secureBase: String?
    let clock: ServerClock
    let log = RequestLog()
    let faults = FaultQueue()
    let clients: ClientAuthenticator
    let signer: IDTokenSigner
    let ledger: Mutex<Ledger>
    let pushed = PushedRequests()
    /// Discovery, made once: clients that start together all ask for it.
    let discovery: Reply
    let tickets = Mutex<[String: AuthorizationRequest]>([:])
    /// User codes by the ticket of a page that asks about them.
    let deviceTickets = Mutex<[String: String]>([:])
    /// Checks proofs at the authorization server's endpoints.
    let proofs: ProofChecker
    /// Checks proofs at the protected resource.
    let resourceProofs: ProofChecker
    /// `nil`: the resource says nothing of itself.
    let protectedResource: Mutex<ProtectedResourceBehaviour?>
    /// Other servers whose tokens the resource may take.
    let otherServers = Mutex<[ServerCore]>([])

    init(
        configuration: AuthorizationServerConfiguration, port: Int, securePort: Int? = nil, signer: IDTokenSigner
    ) {
        self.configuration = configuration
        self.port = port
        self.signer = signer
        let base = "http://127.0.0.1:\(port)\(configuration.issuerPath)"
        self.base = base
        let secureBase = securePort.map { "https://localhost:\($0)\(configuration.issuerPath)" }
        self.secureBase = secureBase
        issuer = configuration.issuer ?? base
        clock = ServerClock(source: configuration.now)
        clients = ClientAuthenticator(
            clients: configuration.clients,
            assertions: AssertionChecker(configuration: configuration, clock: clock),
            audiences: configuration.strictness == .fapi2
                ? [issuer] : [issuer, base + "/token"] + (secureBase.map { [$0 + "/token"] } ?? []),
            isStrict: configuration.strictness == .fapi2,
            now: configuration.now)
        discovery = .json(Self.metadata(configuration, issuer: issuer, base: base, secureBase: secureBase))
        ledger = Mutex(Ledger(configuration: configuration))
        proofs = ProofChecker(configuration: configuration, clock: clock)
        resourceProofs = ProofChecker(configuration: configuration, clock: clock)
        protectedResource = Mutex(configuration.protectedResource)
    }

    func reply(to request: IncomingRequest, _ record: inout RequestRecord) async -> Reply {
        do throws(OAuthError) {
            await takeClientDocument(of: request)
            return try await route(request, &record)
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            return .error(error)
        }
    }

    private func route(
        _ request: IncomingRequest, _ record: inout RequestRecord
    ) async throws(OAuthError) -> Reply {
        switch request.path {
        case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
            return request.method == .get ? currentDiscovery : .methodNotAllowed("GET")
        case "/jwks":
            return request.method == .get ? .json(signer.keySet) : .methodNotAllowed("GET")
        case "/authorize":
            guard request.method == .get || request.method == .post else { return .methodNotAllowed("GET, POST") }
            return authorize(request, &record)
        case "/authorize/decision":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return try decide(request, &record)
        case "/token":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return await token(request, &record)
        case "/par":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return push(request, &record)
        case "/device_authorization":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return try authorizeDevice(request, &record)
        case "/device":
            guard request.method == .get || request.method == .post else { return .methodNotAllowed("GET, POST") }
            return try device(request, &record)
        case "/revoke":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return try revoke(request, &record)
        case "/introspect":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return try introspect(request, &record)
        case "/register":
            guard request.method == .post else { return .methodNotAllowed("POST") }
            return try register(request, &record)
        case let path where path.hasPrefix("/register/"): return try manageRegistration(request, &record)
        case let path where Self.mayHaveMetadata(path): return resourceMetadata(request, &record)
        case "/resource": return resource(request, &record)
        case let path where path.hasPrefix("/resource/"): return resource(request, &record)
        default:
            record.outcome = "not_found"
            return .notFound
        }
    }

    /// What can be recorded of a request without acting on it.
    func describe(_ request: IncomingRequest) -> RequestRecord {
        var record = RequestRecord()
        record.method = request.method.rawValue
        record.path = request.path
        var secret: String?
        switch request.path {
        case "/token", "/revoke", "/introspect", "/par", "/device_authorization":
            guard let form = try? request.form() else { break }
            let assertion = form["client_assertion"].flatMap { CompactJWS($0) }
            record.grantType = form["grant_type"]
            record.client =
                form["client_id"] ?? clients.claimedBasicClient(request) ?? assertion?.claims["sub"]?.string
            record.assertionID = assertion?.claims["jti"]?.string
            record.resources = form.resources
            if request.path == "/par" { record.user = form["login_hint"] }
            for role in ["code", "refresh_token", "token", "device_code"] { record.note(role, form[role]) }
            secret = form["refresh_token"] ?? form["code"] ?? form["token"]
        case "/authorize":
            guard let query = try? FormParameters(parsing: request.query ?? "") else { break }
            record.client = query["client_id"]
            record.user = query["login_hint"]
            record.resources = query.resources
        case let path where path == "/resource" || path.hasPrefix("/resource/"):
            let field = request.headers[.authorization]
            secret = field.flatMap { $0.split(separator: " ").last.map(String.init) }
            record.note("access_token", secret)
        default: break
        }
        if let secret, let owner = ledger.withLock({ $0.owner(of: secret) }) {
            record.user = owner.user
            record.grant = owner.grant
        }
        return record
    }
}
