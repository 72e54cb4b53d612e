extension ProviderProfile {
    /// The versions of the format that this code reads. Format 2 has variables, callbacks and chains of access tokens; a
    /// file that needs none of them may say 1, so that an older program reads it, too.
    private static let formats = 1...2
    private static let maximumBytes = 65_536
    private static let century = 100 * 366 * 86_400

    /// Reads and checks a profile.
    ///
    /// - Parameters:
    ///   - bytes: the profile: one JSON object of at most 64 KiB.
    ///   - file: its name in errors.
    /// - Throws: ``ProfileError``, which names file and field.
    public init(parsing bytes: [UInt8], file: String) throws(ProfileError) {
        guard bytes.count <= Self.maximumBytes else { throw ProfileError(.tooLarge, file: file) }
        let object: JSONObject
        do {
            object = try JSONObject(document: bytes)
        } catch {
            throw ProfileError(.notJSON, file: file, detail: JSONFault(in: bytes, error).words)
        }
        var fields = ProfileFields(object, file: file)
        guard let format = try fields.number("profile", in: 1...Int.max) else {
            throw fields.failure(.missing, "profile", "1 or 2, the format of the file")
        }
        guard Self.formats.contains(format) else {
            throw fields.failure(.notAllowed, "profile", "this version reads the formats 1 and 2")
        }
        name = try fields.required("name")
        guard Self.isName(name) else {
            throw fields.failure(
                .notAllowed, "name", "expected 1 to 64 lower-case letters, digits and hyphens, a letter first")
        }
        title = try fields.text("title") ?? name
        sources = try Self.sources(&fields)
        notVerified = try fields.texts("notVerified")
        variables = try Self.variables(try fields.section("variables"))
        endpoints = try Self.endpoints(try fields.section("endpoints"), Set(variables.map(\.name)))
        client = try Self.client(try fields.section("client"))
        request = try Self.request(try fields.section("request"))
        callback = try Self.callback(try fields.section("callback"))
        refresh = try Self.refresh(try fields.section("refresh"))
        dpop = try Self.dpop(try fields.section("dpop"))
        revocation = try Self.revocation(try fields.section("revocation"))
        limits = try Self.limits(try fields.section("limits"))
        exchange = try Self.exchange(try fields.section("exchange"))
        idTokenIssuers = try Self.idTokenIssuers(try fields.section("idToken"))
        resource = try Self.resource(try fields.section("resource"))
        reply = try Self.reply(&fields, refresh, dpop)
        try fields.finish()
        try refuseContradictions(file: file)
    }

    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x61...0x7A).contains(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    private static func sources(_ fields: inout ProfileFields) throws(ProfileError) -> [Source] {
        var sources: [Source] = []
        for var section in try fields.sections("source") {
            let read = try section.required("read")
            guard ISODate.isDate(read) else {
                throw section.failure(.notAllowed, "read", "expected a date such as 2026-01-31")
            }
            sources.append(Source(url: try section.required("url"), read: read, says: try section.text("says")))
            try section.finish()
        }
        guard !sources.isEmpty else {
            throw fields.failure(.missing, "source", "say where the facts come from, and when they were read")
        }
        return sources
    }

    private static func endpoints(
        _ section: ProfileFields, _ variables: Set<String>
    ) throws(ProfileError) -> Endpoints {
        var section = section
        func value<T>(
            _ name: String, _ read: (String) throws(OAuthValueError) -> T
        ) throws(ProfileError) -> T? {
            guard let text = try section.text(name) else { return nil }
            do throws(OAuthValueError) {
                return try read(text)
            } catch {
                let hint = text.contains("{") ? "; a variable is whole labels left of a domain, or in the path" : ""
                throw section.failure(.notAllowed, name, "expected an https URL" + hint)
            }
        }
        func url(_ name: String) throws(ProfileError) -> EndpointURL? {
            let url = try value(name) { text throws(OAuthValueError) in try EndpointURL(text, allowsVariables: true) }
            for variable in url?.variables ?? [] where !variables.contains(variable) {
                throw section.failure(.notAllowed, name, "the profile has no variable \(variable)")
            }
            return url
        }
        let endpoints = Endpoints(
            issuer: try value("issuer") { text throws(OAuthValueError) in try Issuer(text) },
            authorization: try url("authorization"), token: try url("token"), refresh: try url("refresh"),
            revocation: try value("revocation") { text throws(OAuthValueError) in
                let url = try EndpointURL(text.replacing("{client_id}", with: "id"), allowsVariables: true)
                guard variables.isSuperset(of: url.variables) else { throw OAuthValueError(.malformed, "variable") }
                return text
            },
            pushedAuthorization: try url("pushedAuthorization"), introspection: try url("introspection"))
        try section.finish()
        return endpoints
    }

    private static func idTokenIssuers(_ section: ProfileFields) throws(ProfileError) -> [String] {
        var section = section
        let issuers = try section.texts("issuers")
        for issuer in issuers {
            // A claim fills one part of the path: never the host, and never more than one part.
            let parts = issuer.split(separator: "/", omittingEmptySubsequences: false)
            let host = issuer.hasPrefix("https://") ? parts.dropFirst(2).first : parts.first
            guard issuer.count(where: { $0 == "{" }) <= 1, host?.contains("{") == false,
                issuer.contains("{") == issuer.contains("}")
            else {
                throw section.failure(.notAllowed, "issuers", "a claim in braces may fill one part of the path")
            }
        }
        try section.finish()
        return issuers
    }

    private static func client(_ section: ProfileFields) throws(ProfileError) -> ClientRules {
        var section = section
        var rules = ClientRules()
        rules.authentication = try section.texts("authentication")
        guard rules.authentication.allSatisfy(ClientAuthentication.methodNames.contains) else {
            throw section.failure(
                .notAllowed, "authentication",
                "expected each to be one of \(ClientAuthentication.methodNames.joined(separator: ", "))")
        }
        if section.isText("pkce") {
            rules.pkce = try section.choice("pkce", ClientRules.PKCE.self) ?? .always
        } else if let pkce = try section.flag("pkce") {
            rules.pkce = pkce ? .always : .never
        }
        if let audience = try section.choice("assertionAudience", ClientRules.Audience.self) {
            rules.assertionAudience = audience
        }
        rules.assertionAlgorithm = try section.choice("assertionAlgorithm", ClientAssertionKey.Algorithm.self)
        if let bound = try section.flag("boundTokens") { rules.boundTokens = bound }
        if let days = try section.seconds("secretLifetimeSeconds", in: 86_400...century) { rules.secretLifetime = days }
        if let isDocument = try section.flag("idIsDocument") { rules.idIsDocument = isDocument }
        if let named = try section.flag("issuerInCallback") { rules.issuerInCallback = named }
        if let missing = try section.flag("idTokenMayBeMissing") { rules.idTokenMayBeMissing = missing }
        rules.idTokenAlgorithms = try section.texts("idTokenAlgorithms")
        try section.finish()
        return rules
    }

    private static func request(_ section: ProfileFields) throws(ProfileError) -> RequestRules {
        var section = section
        var rules = RequestRules()
        if let body = try section.choice("body", RequestStyle.Body.self) { rules.body = body }
        if let separator = try section.text("scopeSeparator") { rules.scopeSeparator = separator }
        guard rules.scopeSeparator.utf8.count == 1, " ,+;".contains(rules.scopeSeparator) else {
            throw section.failure(.notAllowed, "scopeSeparator", "expected a space, comma, plus or semicolon")
        }
        if let usage = try section.choice("pushedAuthorization", Usage.self) { rules.pushedAuthorization = usage }
        if let sends = try section.flag("sendsScopeOnRefresh") { rules.sendsScopeOnRefresh = sends }
        rules.authorizationParameters = try section.parameters("authorizationParameters")
        rules.tokenParameters = try section.parameters("tokenParameters")
        rules.refreshParameters = try section.parameters("refreshParameters")
        rules.names = try section.table("names")
        for (name, own) in rules.names {
            guard OAuthErrorCode(own) != nil, OAuthErrorCode(name) != nil, !own.contains(" ") else {
                throw section.failure(.notAllowed, "names.\(name)", "expected the name of a parameter")
            }
        }
        guard Set(rules.names.values).count == rules.names.count,
            rules.names.values.allSatisfy({ !Self.reserved.contains($0) })
        else { throw section.failure(.contradiction, "names", "two parameters would have one name") }
        try section.finish()
        return rules
    }

    private static func refresh(_ section: ProfileFields) throws(ProfileError) -> RefreshPolicy {
        var section = section
        var policy = RefreshPolicy()
        if let rotation = try section.choice("rotation", ReplyRules.Rotation.self) { policy.rotation = rotation }
        if let grace = try section.seconds("graceSeconds", in: 0...31_536_000) { policy.grace = grace }
        if let ends = try section.choice("graceEnds", RefreshPolicy.GraceEnd.self) { policy.graceEnds = ends }
        if let chain = try section.choice("chain", RefreshPolicy.Chain.self) { policy.chain = chain }
        if let type = try section.text("grantType") { policy.grantType = type }
        if let method = try section.choice("method", RefreshPolicy.Method.self) { policy.method = method }
        if let sends = try section.flag("sendsClient") { policy.sendsClient = sends }
        if let age = try section.seconds("minimumAgeSeconds", in: 0...31_536_000) { policy.minimumAge = age }
        if let ends = try section.flag("refreshInvalidatesAccess") { policy.endsFormerAccessToken = ends }
        policy.missing = try section.text("missing")
        policy.first = try first(try section.section("first"))
        if let blast = try section.choice("reuseBlast", RefreshPolicy.ReuseBlast.self) { policy.reuseBlast = blast }
        if let replay = try section.choice("replay", RefreshPolicy.Replay.self) { policy.replay = replay }
        policy.idleLifetime = try section.seconds("idleSeconds", in: 60...century)
        policy.absoluteLifetime = try section.seconds("absoluteSeconds", in: 60...century)
        policy.maximumTokens = try section.number("maximumTokens", in: 1...1_000_000)
        policy.assumedLifetime = try section.seconds("assumedAccessSeconds", in: 1...century)
        try section.finish()
        return policy
    }

    /// Nil if the section is missing.
    private static func first(_ section: ProfileFields) throws(ProfileError) -> FirstExchange? {
        var section = section
        guard !section.names.isEmpty else { return nil }
        let endpoint: EndpointURL
        do {
            endpoint = try EndpointURL(try section.required("endpoint"))
        } catch let error as ProfileError {
            throw error
        } catch {
            throw section.failure(.notAllowed, "endpoint", "expected an https URL")
        }
        var first = FirstExchange(
            endpoint: endpoint, grantType: try section.required("grantType"),
            parameter: try section.required("parameter"))
        if let method = try section.choice("method", RefreshPolicy.Method.self) { first.method = method }
        if let sends = try section.flag("sendsClient") { first.sendsClient = sends }
        if let sends = try section.flag("sendsSecretAlone") { first.sendsSecretAlone = sends }
        try section.finish()
        return first
    }

    private static func dpop(_ section: ProfileFields) throws(ProfileError) -> DPoPRules {
        var section = section
        var rules = DPoPRules()
        if let usage = try section.choice("usage", Usage.self) { rules.usage = usage }
        if let requires = try section.flag("requiresNonce") { rules.requiresNonce = requires }
        if let accepts = try section.flag("acceptsDowngrade") { rules.acceptsDowngrade = accepts }
        try section.finish()
        return rules
    }

    private static func revocation(_ section: ProfileFields) throws(ProfileError) -> RevocationRules {
        var section = section
        var rules = RevocationRules()
        if let method = try section.choice("method", RevocationRules.Method.self) { rules.method = method }
        if let carrier = try section.choice("carrier", RevocationRules.Carrier.self) { rules.carrier = carrier }
        if let parameter = try section.text("parameter") { rules.parameter = parameter }
        if let sends = try section.flag("sendsHint") { rules.sendsHint = sends }
        if let authentication = try section.choice("authentication", RevocationRules.Authentication.self) {
            rules.authentication = authentication
        }
        if let target = try section.choice("target", RevocationRules.Target.self) { rules.target = target }
        rules.reach = try section.choice("reach", RevocationRules.Reach.self)
        if let statuses = try section.numbers("doneStatuses", in: 200...499) { rules.doneStatuses = statuses }
        rules.doneCodes = Set(try section.texts("doneCodes"))
        guard rules.doneCodes.allSatisfy({ OAuthErrorCode($0) != nil }) else {
            throw section.failure(.notAllowed, "doneCodes", "expected error codes")
        }
        try section.finish()
        return rules
    }

    private static func limits(_ section: ProfileFields) throws(ProfileError) -> Limits {
        var section = section
        var limits = Limits()
        if let time = try section.seconds("connectSeconds", in: 1...300) { limits.connectTimeout = time }
        if let time = try section.seconds("timeoutSeconds", in: 1...600) { limits.timeout = time }
        limits.requestsPerMinute = try section.number("requestsPerMinute", in: 1...1_000_000)
        limits.concurrentRequests = try section.number("concurrentRequests", in: 1...10_000)
        try section.finish()
        return limits
    }
}
