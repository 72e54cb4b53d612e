package import FoundationEssentials

/// A client as the server has registered it (RFC 7591 §3.2.1, RFC 7592 §3).
package struct ClientInformation: Sendable, CustomStringConvertible, CustomReflectable {
    package let clientID: ClientID
    package let clientSecret: ClientSecret?
    /// When the secret expires; nil if never, or if there is none.
    package let secretExpiresAt: Date?
    /// The access to read and change the registration.
    package let management: RegistrationManagement?
    /// The server's value: the registered method may differ from the requested one.
    package let authenticationMethod: String?
    package let redirectURIs: [String]
    package let grantTypes: [String]
    package let clientName: String?
    package let scope: String?
    let document: JSONObject

    /// Nil if it is not a registration.
    ///
    /// - Parameter known: The current management access, which a reply without its own leaves unchanged (RFC 7592 §3).
    init?(_ body: [UInt8], known: RegistrationManagement? = nil) {
        guard body.count <= ReplyRules.maximumBodyBytes, let object = try? JSONObject(document: body),
            case .string(let id)? = object["client_id"], let clientID = try? ClientID(id)
        else { return nil }
        func text(_ name: String) -> String? {
            if case .string(let text)? = object[name], text.utf8.count <= 4_096 { text } else { nil }
        }
        func texts(_ name: String) -> [String] {
            if case .list(let texts)? = object[name].map({ ReplyField($0) }) { texts } else { [] }
        }
        self.clientID = clientID
        switch object["client_secret"] {
        case nil, .null?: clientSecret = nil
        case .string(let secret)?:
            guard let secret = try? ClientSecret(secret) else { return nil }
            clientSecret = secret
        default: return nil
        }
        var end: Date?
        if clientSecret != nil, case .number(let number)? = object["client_secret_expires_at"],
            let seconds = Double(number), seconds > 0, seconds < 32_503_680_000
        {
            end = Date(timeIntervalSince1970: seconds)
        }
        secretExpiresAt = end
        let uri = text("registration_client_uri").flatMap { try? EndpointURL($0, allowsInsecureLoopback: true) }
        let token = text("registration_access_token").flatMap { try? AccessToken($0) }
        if let uri = uri ?? known?.uri, let token = token ?? known?.token {
            management = RegistrationManagement(uri: uri, token: token)
        } else {
            management = nil
        }
        authenticationMethod = text("token_endpoint_auth_method")
        redirectURIs = texts("redirect_uris")
        grantTypes = texts("grant_types")
        clientName = text("client_name")
        scope = text("scope")
        document = object
    }

    package var description: String { "<registered client>" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

/// The address for managing a registration, and the token for it (RFC 7592 §3).
package struct RegistrationManagement: Sendable, Hashable {
    package let uri: EndpointURL
    package let token: AccessToken

    package init(uri: EndpointURL, token: AccessToken) {
        self.uri = uri
        self.token = token
    }
}
