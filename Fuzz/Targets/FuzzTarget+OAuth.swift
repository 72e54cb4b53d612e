import Foundation
import OAuthClient

extension FuzzTarget {
    /// A form body: a parsed form can be written and parsed again.
    static let form = FuzzTarget("form") { bytes throws(FuzzFinding) in
        if let parameters = FormCodec.decode(bytes) {
            try require(FormCodec.decode(FormCodec.encode(parameters)) == parameters, "a form does not survive")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let parameters = [FormParameter("name", text), FormParameter("n\(text.prefix(8))", "x")]
        try require(FormCodec.decode(FormCodec.encode(parameters)) == parameters, "a parameter does not survive")
    }

    /// A metadata document: no issuer speaks for another, and no endpoint is plain http.
    static let discovery = FuzzTarget("discovery") { bytes throws(FuzzFinding) in
        for allowsInsecureLoopback in [false, true] {
            guard let issuer = try? Issuer("https://a.example"),
                let metadata = try? ServerMetadata(
                    parsing: bytes, issuer: issuer, allowsInsecureLoopback: allowsInsecureLoopback)
            else { continue }
            let named = IndependentReading.json(bytes)?["issuer"] as? String
            try require(named == "https://a.example", "metadata of another issuer")
            let endpoints = [
                metadata.tokenEndpoint, metadata.authorizationEndpoint, metadata.revocationEndpoint,
                metadata.introspectionEndpoint, metadata.pushedAuthorizationRequestEndpoint,
                metadata.deviceAuthorizationEndpoint, metadata.jwksURI,
            ]
            for endpoint in endpoints.compactMap({ $0 }) + metadata.mtlsEndpointAliases.values {
                try judge(endpoint, allowsInsecureLoopback: allowsInsecureLoopback)
            }
        }
    }

    /// An endpoint's URL: the connection goes to the host that Foundation sees.
    static let url = FuzzTarget("url") { bytes throws(FuzzFinding) in
        let text = String(decoding: bytes, as: UTF8.self)
        for allowsInsecureLoopback in [false, true] {
            guard let endpoint = try? EndpointURL(text, allowsInsecureLoopback: allowsInsecureLoopback) else {
                continue
            }
            try judge(endpoint, allowsInsecureLoopback: allowsInsecureLoopback)
            guard let host = URLComponents(string: text)?.percentEncodedHost, !host.isEmpty else { continue }
            try require(host.lowercased() == endpoint.host, "two readers see two hosts")
        }
    }

    private static func judge(
        _ endpoint: EndpointURL, allowsInsecureLoopback: Bool
    ) throws(FuzzFinding) {
        let isLocal = endpoint.host == "localhost" || endpoint.host == "[::1]" || endpoint.host.hasPrefix("127.")
        try require(
            endpoint.scheme == "https" || (allowsInsecureLoopback && endpoint.scheme == "http" && isLocal),
            "an insecure endpoint")
        try require(!endpoint.authority.contains("@"), "user information in an authority")
        try require(endpoint.requestTarget.hasPrefix("/"), "a request target that is no path")
        let target = endpoint.requestTarget + endpoint.authority
        try require(target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "white space in a request line")
        let again = try? EndpointURL(
            endpoint.origin + endpoint.requestTarget, allowsInsecureLoopback: allowsInsecureLoopback)
        try require(again?.origin == endpoint.origin, "an endpoint that is not itself")
    }

    /// A callback URL: a code is accepted only with the state that was sent, and from the issuer that was asked.
    static let callback = FuzzTarget("callback") { bytes throws(FuzzFinding) in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let callback = try? AuthorizationCallback(parsing: text),
            let state = try? AuthorizationState("expected-state-expected-state"),
            let issuer = try? Issuer("https://a.example")
        else { return }
        for isRequired in [false, true] {
            guard let code = try? callback.code(expectedState: state, issuer: issuer, issuerIsRequired: isRequired)
            else { continue }
            try require(callback.state.reveal() == state.reveal(), "a code for another request")
            try require(callback.issuer == issuer.rawValue || (!isRequired && callback.issuer == nil), "a mix-up")
            let query = text.prefix { $0 != "#" }
            let values = IndependentReading.form(Array(query.drop { $0 != "?" }.dropFirst().utf8))
            let isURL = query.range(of: "^[A-Za-z][A-Za-z0-9+.-]*://", options: .regularExpression) != nil
            let bare = isURL ? [:] : IndependentReading.form(Array(query.utf8))
            try require([values["code"], bare["code"]].contains(code.reveal()), "a code that is not in the URL")
            try require(values["error"] ?? bare["error"] == nil, "a code from a refusal")
        }
    }

    /// An id token: Foundation reads the same subject.
    static let idToken = FuzzTarget("id-token") { bytes throws(FuzzFinding) in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let token = try? IDToken(text), let identity = IDTokenIdentity(token) else { return }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        try require(parts.count == 3, "a token of \(parts.count) parts")
        let base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        let claims = Data(base64Encoded: padded).flatMap { IndependentReading.json(Array($0)) }
        try require(claims?["sub"] as? String == identity.subject, "two readers see two subjects")
        try require(claims?["iss"] as? String == identity.issuer, "two readers see two issuers")
    }
}
