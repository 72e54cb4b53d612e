extension NangoConversion {
    /// Parameters that the client sends itself, or never; the first ones are those of profiles.
    private static let reserved: Set<String> = [
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "code", "code_verifier",
        "code_challenge", "code_challenge_method", "redirect_uri", "refresh_token", "response_type", "state",
        "request_uri", "dpop_jkt", "request",
    ]
    /// Members and parameters that are not kept with a login, because they are secret.
    private static let secretWords = ["token", "secret", "password", "webhook", "code", "state", "assertion"]

    func client() throws(NangoObstacle) -> ProfileText {
        let method: String
        switch (provider.text("token_request_auth_method"), provider.text("authorization_method")) {
        case ("basic", _), (nil, "header"): method = "client_secret_basic"
        case ("private_key_jwt", _): method = "private_key_jwt"
        case (nil, nil), (nil, "body"): method = "client_secret_post"
        default: throw .authentication
        }
        var members: [(String, ProfileText)] = [("authentication", .texts([method]))]
        if provider.isTrue("disable_pkce") { members.append(("pkce", .text("never"))) }
        return .section(members)
    }

    mutating func request() throws(NangoObstacle) -> ProfileText {
        var members: [(String, ProfileText)] = []
        if provider.text("body_format") == "json" { members.append(("body", .text("json"))) }
        if let separator = provider.text("scope_separator"), separator != " " {
            guard separator.utf8.count == 1, ",+;".contains(separator) else { throw .scopeSeparator }
            members.append(("scopeSeparator", .text(separator)))
        }
        let authorization = try authorizationParameters()
        let token = try tokenParameters(provider.parameters("token_params"), grant: "authorization_code")
        // Without parameters for it, Nango sends those of the code with a refresh, too.
        let refresh = try provider.parameters("refresh_params").map { parameters throws(NangoObstacle) in
            try tokenParameters(parameters, grant: "refresh_token")
        }
        members.append(("authorizationParameters", .table(authorization)))
        members.append(("tokenParameters", .table(token)))
        members.append(("refreshParameters", .table(refresh ?? token)))
        members.append(("names", .table(try names())))
        return .section(members)
    }

    private mutating func authorizationParameters() throws(NangoObstacle) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        for (name, value) in provider.parameters("authorization_params") ?? [] {
            switch name {
            case "response_type":
                guard value == "code" else { throw .responseType }
            // A log-in has a nonce of its own where an id token is to repeat it.
            case "nonce": continue
            // The scope is the operator's, and a fixed one would never be sent.
            case "scope":
                remarks.append("log-ins ask for a scope that the operator names with --scope")
            default:
                guard !Self.reserved.contains(name) else { throw .parameter(name) }
                parameters.append((name, try filled(value, name)))
            }
        }
        return parameters
    }

    private mutating func tokenParameters(
        _ given: [(name: String, value: String)]?, grant: String
    ) throws(NangoObstacle) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        for (name, value) in given ?? [] {
            if name == "grant_type" {
                guard value == grant else { throw .grantType }
                continue
            }
            guard !Self.reserved.contains(name) else { throw .parameter(name) }
            parameters.append((name, try filled(value, name)))
        }
        return parameters
    }

    /// A parameter's value with the profile's own names for what each log-in brings.
    private mutating func filled(_ value: String, _ name: String) throws(NangoObstacle) -> String {
        var filled = ""
        for part in NangoTemplate(value).parts {
            switch part {
            case .text(let text): filled += text
            case .value(let value): filled += "{\(try variables.name(of: value, for: .parameter))}"
            case .unknown: throw .template(name)
            }
        }
        guard filled.utf8.count <= 2_048, !filled.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .template(name)
        }
        return filled
    }

    /// Nango replaces text in the finished address, so that only what is a parameter's name can be taken over.
    private mutating func names() throws(NangoObstacle) -> [(name: String, value: String)] {
        guard let replacements = provider["authorization_url_replacements"]?.map else { return [] }
        var names: [(name: String, value: String)] = []
        for key in replacements.names {
            let name = key.hasSuffix("=") ? String(key.dropLast()) : key
            var own = replacements[key]?.text ?? ""
            guard !own.isEmpty else { throw .removedParameter(name) }
            if own.hasSuffix("=") { own.removeLast() }
            guard name != "state" else { throw .renamedState }
            guard [name, own].allSatisfy(Self.isParameter), !Self.reserved.contains(own),
                !names.contains(where: { $0.name == name || $0.value == own })
            else { throw .renaming(name) }
            names.append((name, own))
        }
        if !names.isEmpty {
            notVerified.append("request.names")
            remarks.append("other names for parameters of the authorization request, perhaps not of token requests")
        }
        return names
    }

    private static func isParameter(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "_-.".utf8.contains($0)
            }
    }

    // MARK: Replies

    func callback() throws(NangoObstacle) -> ProfileText {
        var members: [(String, ProfileText)] = []
        let code = provider.text("authorization_code_param_in_callback") ?? "code"
        guard Self.isParameter(code) else { throw .renaming("code") }
        if code != "code" { members.append(("code", .text(code))) }
        members.append(("keep", .texts(kept(provider.texts("redirect_uri_metadata").filter { $0 != code }))))
        return .section(members)
    }

    mutating func reply() -> ProfileText {
        var members: [(String, ProfileText)] = []
        if let path = provider.text("alternate_access_token_response_path"), path.split(separator: ".").count > 0 {
            let parts = path.split(separator: ".").map(String.init)
            if parts.allSatisfy(Self.isParameter), let label = parts.last {
                members.append(
                    ("otherLogins", .list([.section([("label", .text(label)), ("path", .texts(parts))])])))
                notVerified.append("reply.otherLogins")
            }
        }
        if provider.text("expires_in_unit") == "milliseconds" {
            members.append(
                (
                    "lifetimes",
                    .list([.section([("name", .text("expires_in")), ("unit", .text("milliseconds"))])])
                ))
        }
        members.append(("keep", .texts(kept(provider.texts("token_response_metadata")))))
        return .section(members)
    }

    /// Names that a profile may keep with a login. What a log-in brings as a variable is kept in any case.
    private func kept(_ names: [String]) -> [String] {
        var kept: [String] = []
        for name in names where Self.isParameter(name) && !kept.contains(name) && kept.count < 16 {
            let isSecret = NangoVariables.words(name).split(separator: " ").contains { word in
                Self.secretWords.contains(String(word))
            }
            if !isSecret, !variables.list.contains(where: { $0.name == name }) { kept.append(name) }
        }
        return kept
    }

    // MARK: APIs

    private static let otherHeaders: Set<String> = [
        "host", "content-length", "content-type", "cookie", "dpop", "connection", "transfer-encoding", "upgrade",
    ]

    func resource() throws(NangoObstacle) -> ProfileText {
        guard let (name, scheme) = provider.tokenHeader else { return .section([]) }
        guard Self.isParameter(name), !Self.otherHeaders.contains(name.lowercased()), Self.isScheme(scheme) else {
            throw .header(name)
        }
        let isAuthorization = name.lowercased() == "authorization"
        if isAuthorization, scheme.lowercased() == "bearer" { return .section([]) }
        var members: [(String, ProfileText)] = isAuthorization ? [] : [("header", .text(name))]
        members.append(("scheme", .text(scheme)))
        return .section(members)
    }

    private static func isScheme(_ scheme: String) -> Bool {
        scheme.utf8.count <= 64 && scheme.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "$") }
    }
}
