/// How token requests are treated, for the whole server or for one client. What is `nil` stays as it was.
public struct ClientBehaviour: Sendable, Equatable {
    public var rotation: AuthorizationServerConfiguration.RefreshRotation?
    public var graceWindow: Duration?
    public var reuse: AuthorizationServerConfiguration.ReuseResponse?
    public var nonceCheck: AuthorizationServerConfiguration.NonceCheck?
    public var accessTokenLifetime: Duration?
    /// Before a token request is acted on.
    public var delay: Duration?
    /// Between acting on a token request and its reply.
    public var replyDelay: Duration?

    public init(
        rotation: AuthorizationServerConfiguration.RefreshRotation? = nil, graceWindow: Duration? = nil,
        reuse: AuthorizationServerConfiguration.ReuseResponse? = nil,
        nonceCheck: AuthorizationServerConfiguration.NonceCheck? = nil, accessTokenLifetime: Duration? = nil,
        delay: Duration? = nil, replyDelay: Duration? = nil
    ) {
        self.rotation = rotation
        self.graceWindow = graceWindow
        self.reuse = reuse
        self.nonceCheck = nonceCheck
        self.accessTokenLifetime = accessTokenLifetime
        self.delay = delay
        self.replyDelay = replyDelay
    }

    /// These choices, and below them those of `other`.
    func over(_ other: ClientBehaviour) -> ClientBehaviour {
        ClientBehaviour(
            rotation: rotation ?? other.rotation, graceWindow: graceWindow ?? other.graceWindow,
            reuse: reuse ?? other.reuse, nonceCheck: nonceCheck ?? other.nonceCheck,
            accessTokenLifetime: accessTokenLifetime ?? other.accessTokenLifetime, delay: delay ?? other.delay,
            replyDelay: replyDelay ?? other.replyDelay)
    }
}

/// A behaviour with nothing left open.
struct Behaviour: Sendable {
    let rotation: AuthorizationServerConfiguration.RefreshRotation
    let graceWindow: Duration
    let reuse: AuthorizationServerConfiguration.ReuseResponse
    let nonceCheck: AuthorizationServerConfiguration.NonceCheck
    let accessTokenLifetime: Duration
    let delay: Duration
    let replyDelay: Duration

    init(_ choices: ClientBehaviour, _ configuration: AuthorizationServerConfiguration) {
        rotation = choices.rotation ?? configuration.refreshRotation
        graceWindow = choices.graceWindow ?? configuration.graceWindow
        reuse = choices.reuse ?? configuration.reuseResponse
        nonceCheck = choices.nonceCheck ?? configuration.nonceCheck
        accessTokenLifetime = choices.accessTokenLifetime ?? configuration.accessTokenLifetime
        delay = choices.delay ?? .zero
        replyDelay = choices.replyDelay ?? .zero
    }
}

/// The behaviours of a running server: a client's own choices come before the server's.
struct Behaviours: Sendable {
    private let configuration: AuthorizationServerConfiguration
    private var server: ClientBehaviour
    private(set) var clients: [String: ClientBehaviour]

    init(_ configuration: AuthorizationServerConfiguration) {
        self.configuration = configuration
        server = configuration.behaviour
        clients = Dictionary(configuration.clients.map { ($0.id, $0.behaviour) }) { _, last in last }
    }

    func behaviour(of client: String?) -> Behaviour {
        let own = client.flatMap { clients[$0] } ?? ClientBehaviour()
        return Behaviour(own.over(server), configuration)
    }

    /// `nil` is the whole server.
    mutating func change(_ choices: ClientBehaviour, of client: String?) {
        if let client {
            clients[client] = choices.over(clients[client] ?? ClientBehaviour())
        } else {
            server = choices.over(server)
        }
    }

    /// Back to the configuration.
    mutating func reset() {
        self = Behaviours(configuration)
    }
}
