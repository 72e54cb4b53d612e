import AsyncHTTPClient
public import OAuthClient

extension AsyncHTTPTransport {
    /// An egress proxy for all connections to providers (HTTP CONNECT, RFC 9110 §9.3.6). TLS is between this process
    /// and the provider, so the proxy learns only the provider's name and port.
    ///
    /// It is never taken from the environment.
    public struct Proxy: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        let host: String
        let port: Int
        private let credentials: Credentials?

        /// The credentials that the proxy requires (RFC 7617).
        public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
            let user: String
            let password: String

            /// - Throws: `OAuthValueError` for values that basic authentication cannot carry.
            public init(user: String, password: String) throws(OAuthValueError) {
                let texts = [user, password]
                guard !user.isEmpty, !user.contains(":") else {
                    throw OAuthValueError(.malformed, "user of the proxy")
                }
                for text in texts where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                    throw OAuthValueError(.forbiddenCharacter, "credentials of the proxy")
                }
                self.user = user
                self.password = password
            }

            public var description: String { "<proxy credentials>" }
            public var debugDescription: String { description }
            public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
        }

        /// - Parameters:
        ///   - url: `http://HOST:PORT`; the default port is 80. It must not contain credentials.
        ///   - credentials: The credentials that the proxy requires, if any.
        /// - Throws: `OAuthValueError`.
        public init(_ url: String, credentials: Credentials? = nil) throws(OAuthValueError) {
            var rest = url[...]
            if rest.hasSuffix("/") { rest.removeLast() }
            guard rest.lowercased().hasPrefix("http://"),
                let address = RequestTarget.address(of: String(rest.dropFirst("http://".count)))
            else { throw OAuthValueError(.malformed, "URL of the proxy") }
            host = address.host
            port = address.port ?? 80
            self.credentials = credentials
        }

        var configuration: HTTPClient.Configuration.Proxy {
            guard let credentials else { return .server(host: host, port: port) }
            return .server(
                host: host, port: port,
                authorization: .basic(username: credentials.user, password: credentials.password))
        }

        public var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
        public var debugDescription: String { description }
        public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
    }
}
