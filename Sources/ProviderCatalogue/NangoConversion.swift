/// One entry of Nango's catalogue as a provider profile: where requests go and what is in them. The catalogue says
/// nothing of rotation, lifetimes, grace or errors, so the profile says that nobody has proven them.
package struct NangoConversion {
    static let catalogue = "https://github.com/NangoHQ/nango/blob/master/packages/providers/providers.yaml"
    private static let says = "endpoints and parameters; nothing about rotation, lifetimes, grace or errors"

    /// Entries whose requests Nango makes by code in a way that the catalogue does not show (read on 2026-11-28 in
    /// `packages/shared/lib/clients/provider.client.ts`): signed requests, second exchanges, other names. A profile
    /// without these would fail, or renew nothing.
    static let requestsByCode: Set<String> = [
        "absorb-lms", "agiloft", "braintree", "braintree-sandbox", "bullhorn", "coros", "coros-sandbox", "facebook",
        "followupboss", "instagram", "microsoft-admin", "microsoft-teams-bot", "revolut-business", "sentry-oauth",
        "shopline-oauth", "stripe-app", "stripe-app-sandbox", "threads", "tiktok-accounts", "tiktok-ads", "walmart",
    ]
    /// Those whose code sends what RFC 6749 says, as far as it was read, in another encoding or with fewer parameters.
    static let similarCode: Set<String> = [
        "clover", "fanvue", "figjam", "figma", "heygen", "jobber", "mercury", "one-drive", "posthog-oauth",
        "sharepoint-online", "slack", "tiktok-personal", "workday-oauth",
    ]

    let provider: NangoProvider
    var variables: NangoVariables
    /// Fields that the catalogue gives, but does not prove.
    var notVerified = ["refresh"]
    var remarks: [String] = []

    /// - Parameters:
    ///   - provider: the entry.
    ///   - read: when the catalogue was read, such as `2026-01-31`.
    /// - Returns: the text of the profile.
    /// - Throws: ``NangoObstacle``.
    package static func profile(of provider: NangoProvider, read: String) throws(NangoObstacle) -> String {
        var conversion = NangoConversion(provider: provider, variables: NangoVariables(of: provider))
        return try conversion.profile(read: read)
    }

    private mutating func profile(read: String) throws(NangoObstacle) -> String {
        try refuseOthers()
        let endpoints = try endpoints()
        let client = try client()
        let request = try request()
        guard variables.list.count <= NangoVariables.most else { throw .tooManyVariables }
        let reply = reply()
        let callback = try callback()
        let resource = try resource()
        if Self.similarCode.contains(provider.name) {
            notVerified.append("endpoints.token")
            remarks.append("Nango's own requests for tokens are made by code, and may differ")
        }
        let title = String(provider.title.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(128))
        let source: ProfileText = .section([
            ("url", .text(Self.catalogue)), ("read", .text(read)),
            ("says", .text(([Self.says] + remarks).joined(separator: "; "))),
        ])
        let profile: ProfileText = .section([
            ("profile", .number(2)), ("name", .text(provider.name)),
            ("title", .text(title.isEmpty ? provider.name : title)), ("source", .list([source])),
            ("notVerified", .texts(notVerified)), ("variables", variablesSection), ("endpoints", .table(endpoints)),
            ("client", client), ("request", request), ("callback", callback), ("reply", reply),
            ("refresh", .section([("rotation", .text("sometimes"))])), ("resource", resource),
        ])
        return profile.json() + "\n"
    }

    private func refuseOthers() throws(NangoObstacle) {
        guard !provider.isAliasOfNothing else { throw provider.isEndlessAlias ? .endlessAlias : .aliasOfNothing }
        guard provider.mode == "OAUTH2" else { throw .mode(provider.mode ?? "") }
        guard Self.isName(provider.name) else { throw .name }
        guard provider["authorization_code_param_in_webhook"] == nil, provider.text("installation") != "outbound"
        else { throw .codeByWebhook }
        guard !Self.requestsByCode.contains(provider.name) else { throw .requestsByCode }
        guard provider["authorization_url_fragment"] == nil else { throw .fragment }
        guard provider["authorization_url_skip_encode"] == nil, provider["token_url_skip_encode"] == nil else {
            throw .unescapedScopes
        }
        guard !provider.isTrue("require_client_certificate") else { throw .certificate }
    }

    /// As in `ProviderProfile`: 1 to 64 lower-case letters, digits and hyphens, a letter first.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x61...0x7A).contains(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    // MARK: Endpoints

    private mutating func endpoints() throws(NangoObstacle) -> [(name: String, value: String)] {
        let fields = [("authorization", "authorization_url"), ("token", "token_url"), ("refresh", "refresh_url")]
        var choices: [(name: String, field: String, addresses: [NangoAddress?])] = []
        for (name, field) in fields {
            guard let text = provider.address(field) else {
                if name == "refresh" { continue }
                throw .noEndpoint(field)
            }
            let templates = NangoTemplate.alternatives(text)
            guard !templates.contains(where: \.isUnknown) || templates.count > 1 else { throw .template(field) }
            choices.append((name, field, templates.map { NangoAddress($0) }))
        }
        let alternative = Self.best(choices.map(\.addresses))
        var endpoints: [(name: String, value: String)] = []
        for (name, field, addresses) in choices {
            guard let address = addresses[min(alternative, addresses.count - 1)] else { throw .endpoint(field) }
            endpoints.append((name, try address.written(&variables)))
        }
        if alternative > 0 { remarks.append("these are its default addresses, and there are others") }
        return endpoints
    }

    /// The alternative that asks least of a log-in. All endpoints take the same one; the first, if one of them has no
    /// other and depends on the log-in: the defaults of the rest may be another region's.
    private static func best(_ choices: [[NangoAddress?]]) -> Int {
        let count = choices.map(\.count).max() ?? 1
        let isBound = choices.contains { $0.count < count && $0.contains { ($0?.demand ?? .nothing) > .nothing } }
        guard count > 1, !isBound else { return 0 }
        let demands = (0..<count).map { number in
            choices.map { addresses in addresses[min(number, addresses.count - 1)]?.demand.rawValue ?? 9 }.max() ?? 9
        }
        return demands.indices.min { demands[$0] < demands[$1] } ?? 0
    }

    private var variablesSection: ProfileText {
        .section(
            variables.list.map { variable in
                var members: [(String, ProfileText)] = [
                    ("says", .text(variable.says)), ("example", .text(variable.example)),
                    ("pattern", .text(variable.pattern)),
                ]
                if variable.use == .host { members.append(("anyHost", .flag(true))) }
                return (variable.name, .section(members))
            })
    }
}
