/// A redirect URI to this machine (RFC 8252 §7.3): `http://127.0.0.1/callback`, with or without a port.
package struct LoopbackRedirectURI: Sendable, Hashable {
    package enum Host: String, Sendable {
        case ipv4 = "127.0.0.1"
        case ipv6 = "[::1]"
        /// RFC 8252 §8.3 advises against it, but some servers register nothing else.
        case localhost
    }

    package let host: Host
    /// Nil for any free port, which a server has to allow (RFC 8252 §7.3).
    package let port: Int?
    /// From the first slash on; empty if the URI ends with its authority.
    package let path: String

    package static let standard = LoopbackRedirectURI(host: .ipv4, port: nil, path: "/callback")

    private init(host: Host, port: Int?, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    /// - Returns: Nil unless `text` is plain `http` to this machine, without user, query or fragment.
    package init?(_ text: String) {
        guard text.utf8.count <= 1_024, text.lowercased().hasPrefix("http://") else { return nil }
        let rest = text.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        let hosts: [Host] = [.ipv4, .ipv6, .localhost]
        guard let host = hosts.first(where: { Self.names($0, authority) }), path.utf8.allSatisfy(Self.isPathByte) else {
            return nil
        }
        let port = authority.dropFirst(host.rawValue.count)
        if port.isEmpty {
            self.init(host: host, port: nil, path: String(path))
        } else {
            guard port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port.dropFirst()),
                (1...65_535).contains(number)
            else { return nil }
            self.init(host: host, port: number, path: String(path))
        }
    }

    package func at(port: Int) -> LoopbackRedirectURI {
        LoopbackRedirectURI(host: host, port: port, path: path)
    }

    /// Without a port it stands for every one (RFC 8252 §7.3).
    package var text: String { "http://\(host.rawValue)\(port.map { ":\($0)" } ?? "")\(path)" }

    func at(path: String) -> LoopbackRedirectURI { LoopbackRedirectURI(host: host, port: port, path: path) }

    /// The URI in the form sent to the authorization server.
    package func text(port: Int) -> String { at(port: port).text }

    /// The address that the listener binds to, never one that another machine can reach.
    var bindAddress: String { host == .ipv6 ? "::1" : "127.0.0.1" }

    private static func names(_ host: Host, _ authority: Substring) -> Bool {
        let text = authority.lowercased()
        return text == host.rawValue || text.hasPrefix(host.rawValue + ":")
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}
