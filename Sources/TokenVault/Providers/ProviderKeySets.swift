import OAuthClient
import Synchronization
import VaultStorage

/// The keys with which providers sign id tokens, in memory: forgetting them costs one more request.
final class ProviderKeySets: Sendable {
    private struct Entry {
        let keys: JSONWebKeySet
        let fetchedAt: Timestamp
    }

    /// Keys are exchanged over days; a new one that is not known yet is fetched when it is first met.
    private static let lifetime = Duration.seconds(3_600)
    /// An id token with a made-up key must not make a request each.
    private static let shortestPause = Duration.seconds(60)

    private let known = Mutex(RecentTable<String, Entry>(capacity: 256))

    /// Nil if they are not available: the provider publishes none, or cannot be reached.
    func keys(of provider: ProviderRecord, over transport: any HTTPTransport, now: Timestamp) async -> JSONWebKeySet? {
        guard let uri = provider.jwksURI else { return nil }
        let entry = known.withLock { $0[uri] }
        if let entry, (.zero..<Self.lifetime).contains(now.since(entry.fetchedAt)) { return entry.keys }
        return await fetch(uri, over: transport, now: now) ?? entry?.keys
    }

    /// Nil if they were fetched just now, or are not available.
    func newerKeys(
        of provider: ProviderRecord, over transport: any HTTPTransport, now: Timestamp
    ) async -> JSONWebKeySet? {
        guard let uri = provider.jwksURI else { return nil }
        let entry = known.withLock { $0[uri] }
        if let entry, (.zero..<Self.shortestPause).contains(now.since(entry.fetchedAt)) { return nil }
        return await fetch(uri, over: transport, now: now)
    }

    private func fetch(_ uri: String, over transport: any HTTPTransport, now: Timestamp) async -> JSONWebKeySet? {
        guard let endpoint = try? EndpointURL(stored: uri),
            let keys = await JSONWebKeySet.fetch(from: endpoint, over: transport)
        else { return nil }
        known.withLock { $0.insert(Entry(keys: keys, fetchedAt: now), for: uri) }
        return keys
    }
}
