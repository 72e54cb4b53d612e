import NIOCore
import NIOPosix
import OAuthClient

extension AsyncHTTPTransport {
    /// Whether an address is outside the public network: this machine, a private network, a link, a metadata service,
    /// or an address for documentation or multicast (RFC 6890). Also true of a text that is not an address.
    ///
    /// ```swift
    /// let transport = AsyncHTTPTransport(options: .init(deniesAddress: AsyncHTTPTransport.isSpecialPurpose))
    /// ```
    public static func isSpecialPurpose(_ address: String) -> Bool {
        guard let socket = try? SocketAddress(ipAddress: address, port: 0), let text = socket.ipAddress else {
            return true
        }
        if case .v6 = socket { return !isGlobal(version6: text) }
        let octets = text.split(separator: ".").compactMap { UInt32($0) }
        guard octets.count == 4 else { return true }
        let number = octets.reduce(0) { $0 << 8 | $1 }
        return special.contains { number >> (32 - $0.length) == $0.network >> (32 - $0.length) }
    }

    private static let special: [(network: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
        (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
        (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 3),
    ]

    /// Only 2000::/3 is assigned to the public network, except for the parts that lead elsewhere or are for
    /// documentation.
    private static func isGlobal(version6 text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) ?? 0 }
        guard let first = groups.first, (0x2000...0x3FFE).contains(first), first != 0x2002 else { return false }
        let second = groups.count > 1 ? groups[1] : 0
        return first != 0x2001 || second >= 0x200 && second != 0x0DB8
    }

    /// Rejects a host whose name resolves to a denied address, before any connection is made.
    func refuseDenied(_ host: String, _ route: CertificateClients.Route) async throws(HTTPTransportError) {
        guard let denies = options.deniesAddress(route) else { return }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let address: String?
        do {
            address = try await NIOThreadPool.singleton.runIfActive {
                try SocketAddress.makeAddressResolvingHost(bare, port: 443).ipAddress
            }
        } catch { throw HTTPTransportError(.notSent, .dns) }
        guard let address, !denies(address) else { throw HTTPTransportError(.notSent, .refused) }
    }
}

extension AsyncHTTPTransport.Options {
    /// Nil where a proxy makes the connection.
    func deniesAddress(_ route: CertificateClients.Route) -> (@Sendable (String) -> Bool)? {
        proxy == nil || route.isDirect ? deniesAddress : nil
    }
}
