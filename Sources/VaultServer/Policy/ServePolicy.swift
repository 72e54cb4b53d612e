import OAuthClient
package import Platform

/// Which programs of this machine may have which tokens. Nothing is allowed that no client's line allows.
package struct ServePolicy: Sendable {
    package let clients: [PolicyClient]

    /// The only client that is at the other end of this connection; nil: none of the policy's.
    ///
    /// - Parameter socket: The name of the socket that it has connected to.
    package func client(of peer: PeerCredentials, on socket: String) -> PolicyClient? {
        clients.first { $0.identity.fits(peer, on: socket) }
    }
}

/// One client of a policy. Each request has one, and none copies it.
package final class PolicyClient: Sendable {
    /// Its name in the policy, in the audit trail and in metrics.
    package let name: String
    /// The line of the policy file in which it begins.
    package let line: Int
    package let identity: Identity
    package let verbs: Set<Verb>
    let users: NamePatterns
    /// The tenants whose users it may name; nil: users of no tenant.
    let tenants: NamePatterns?
    let providers: NamePatterns
    /// Of which scopes a token may be; nil: the login's own token with whatever was granted, and no request for less.
    let scopes: NamePatterns?
    /// For which resources it may have tokens of their own (RFC 8707); nil: for none.
    let resources: NamePatterns?
    /// Where its requests may go; nil: nowhere.
    let origins: OriginPatterns?
    let methods: NamePatterns?

    init(
        name: String, line: Int, identity: Identity, verbs: Set<Verb>, users: NamePatterns, tenants: NamePatterns?,
        providers: NamePatterns, scopes: NamePatterns?, resources: NamePatterns?, origins: OriginPatterns?,
        methods: NamePatterns?
    ) {
        (self.name, self.line, self.identity, self.verbs) = (name, line, identity, verbs)
        (self.users, self.tenants, self.providers) = (users, tenants, providers)
        (self.scopes, self.resources, self.origins, self.methods) = (scopes, resources, origins, methods)
    }

    /// The providers that it lists by their whole names.
    package var namedProviders: [String] { providers.whole }

    /// What a client may do.
    package enum Verb: String, Sendable, CaseIterable {
        /// Get access tokens.
        case token
        /// Get the header fields of single requests, and report their replies.
        case authorize
        /// List logins.
        case logins
        /// Begin and complete log-ins.
        case logIn
        /// Log logins out.
        case logOut
        /// Follow events.
        case events
        /// Read metrics.
        case metrics
    }

    /// The marks by which the kernel knows it. Nil: any.
    package struct Identity: Sendable, Equatable {
        package var user: UInt32?
        /// The process's effective group, not one of its supplementary ones.
        package var group: UInt32?
        package var socket: String?

        func fits(_ peer: PeerCredentials, on socket: String) -> Bool {
            (user ?? peer.user) == peer.user && (group ?? peer.group) == peer.group && (self.socket ?? socket) == socket
        }

        /// Whether one connection could fit both.
        func overlaps(_ other: Identity) -> Bool {
            func meet<Mark: Equatable>(_ one: Mark?, _ other: Mark?) -> Bool {
                one == nil || other == nil || one == other
            }
            return meet(user, other.user) && meet(group, other.group) && meet(socket, other.socket)
        }
    }
}

/// Names that a policy lists: whole ones, beginnings such as `app-*`, or `*` for all.
package struct NamePatterns: Sendable {
    private(set) var isAll = false
    // As bytes: for the vault, two spellings of an accent are two names.
    private var exact: Set<[UInt8]> = []
    private var beginnings: [[UInt8]] = []

    init(_ texts: [String]) {
        for text in texts {
            if text == "*" {
                isAll = true
            } else if text.hasSuffix("*") {
                beginnings.append(Array(text.utf8.dropLast()))
            } else {
                exact.insert(Array(text.utf8))
            }
        }
    }

    /// The name, if there is a single whole one.
    var only: String? {
        guard !isAll, beginnings.isEmpty, exact.count == 1, let name = exact.first else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// The whole names.
    var whole: [String] { exact.map { String(decoding: $0, as: UTF8.self) }.sorted() }

    package func contains(_ name: String) -> Bool {
        if isAll { return true }
        let name = Array(name.utf8)
        return exact.contains(name) || beginnings.contains { name.starts(with: $0) }
    }
}

/// Where requests may go.
struct OriginPatterns: Sendable {
    private let isAll: Bool
    private let origins: [APIOrigin]

    init(_ texts: [String]) throws(OAuthValueError) {
        isAll = texts.contains("*")
        origins = try texts.filter { $0 != "*" }.map { text throws(OAuthValueError) in
            try APIOrigin(text, allowsInsecureLoopback: true)
        }
    }

    func covers(_ target: EndpointURL) -> Bool { isAll || origins.contains { $0.covers(target) } }
}
