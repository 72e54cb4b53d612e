import AsyncHTTPClient
import NIOCore
import NIOSSL
import OAuthClient
import Synchronization

/// One HTTP client for each client certificate, so that no connection ever serves requests with different certificates.
///
/// The number of idle clients is limited: the one unused for longest is closed first. Clients in use are kept.
final class CertificateClients: Sendable {
    /// The properties that a client's connections share.
    struct Route: Hashable, Sendable {
        var certificate: ClientCertificate?
        /// Bypasses the egress proxy.
        var isDirect = false
    }

    fileprivate struct Entry {
        let client: HTTPClient
        var leases = 0
        var usedAt: UInt64 = 0
    }

    fileprivate struct State {
        var entries: [Route: Entry] = [:]
        var uses: UInt64 = 0
        var isShutDown = false
    }

    static let limit = 32

    private let configuration: @Sendable (Route) throws -> HTTPClient.Configuration
    private let state = Mutex(State())

    init(_ configuration: @escaping @Sendable (Route) throws -> HTTPClient.Configuration) {
        self.configuration = configuration
    }

    deinit {
        // AsyncHTTPClient requires a shutdown; an owner who forgets it must not crash the service.
        for client in takeAll() { client.shutdown { _ in } }
    }

    /// The number of clients.
    var count: Int { state.withLock { $0.entries.count } }

    /// A client that stays open while the lease lives.
    ///
    /// - Throws: A `notSent` error after ``shutDown()``, and for a certificate that TLS does not accept.
    func lease(_ route: Route) throws(HTTPTransportError) -> Lease {
        let (found, idle): (Result<Lease, HTTPTransportError>, HTTPClient?) = state.withLock { state in
            guard !state.isShutDown else { return (.failure(HTTPTransportError(.notSent, .cancelled)), nil) }
            state.uses += 1
            var idle: HTTPClient?
            var entry: Entry
            if let known = state.entries[route] {
                entry = known
            } else {
                guard let configuration = try? configuration(route) else {
                    return (.failure(HTTPTransportError(.notSent, .tls)), nil)
                }
                idle = state.removeIdle()
                entry = Entry(client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration))
            }
            entry.leases += 1
            entry.usedAt = state.uses
            state.entries[route] = entry
            return (.success(Lease(entry.client, route, self)), idle)
        }
        idle?.shutdown { _ in }
        return try found.get()
    }

    fileprivate func end(_ route: Route) {
        state.withLock { $0.entries[route]?.leases -= 1 }
    }

    /// Closes all clients. Requests in flight fail.
    func shutDown() async {
        // Fails only if it was already shut down.
        for client in takeAll() { try? await client.shutdown() }
    }

    private func takeAll() -> [HTTPClient] {
        state.withLock { state in
            defer { (state.entries, state.isShutDown) = ([:], true) }
            return state.entries.values.map(\.client)
        }
    }

    /// Prevents a client from being closed to make room for another one.
    final class Lease: Sendable {
        let client: HTTPClient
        private let route: Route
        private let owner: CertificateClients

        fileprivate init(_ client: HTTPClient, _ route: Route, _ owner: CertificateClients) {
            self.client = client
            self.route = route
            self.owner = owner
        }

        deinit { owner.end(route) }
    }
}

extension CertificateClients.State {
    /// Removes the client that must close before another one opens.
    fileprivate mutating func removeIdle() -> HTTPClient? {
        guard entries.count >= CertificateClients.limit,
            let idle = entries.filter({ $0.value.leases == 0 }).min(by: { $0.value.usedAt < $1.value.usedAt })
        else { return nil }
        entries[idle.key] = nil
        return idle.value.client
    }
}

extension TLSConfiguration {
    /// A client's TLS configuration: at least TLS 1.2, names verified.
    static func client(
        _ trustRoots: AsyncHTTPTransport.TrustRoots, showing certificate: ClientCertificate?
    ) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        if !trustRoots.additional.isEmpty {
            tls.additionalTrustRoots = [.certificates(trustRoots.additional)]
        }
        if let certificate {
            tls.certificateChain = try certificate.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            tls.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.revealKeyPEM().utf8), format: .pem))
        }
        return tls
    }
}
