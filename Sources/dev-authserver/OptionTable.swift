import DevAuthorizationServer

enum YesOrNo: String, CaseIterable {
    case yes, no
}

extension Option {
    static let all: [Option] = addresses + registration + tokens + dpop + running

    static let sections: [(title: String, options: [Option])] = [
        ("Address", addresses), ("Clients and users", registration), ("Tokens", tokens), ("DPoP", dpop),
        ("Starting and stopping", running),
    ]

    private static let addresses: [Option] = [
        .value("--port", "N", "port on 127.0.0.1; 0 takes a free one (default 0)") { options, text throws(UsageError) in
            options.configuration.port = try integer(text, in: 0...65535)
        },
        .value("--issuer", "URL", "issuer to claim instead of the address listened on") { options, text in
            options.configuration.issuer = text
        },
        .value("--issuer-path", "PATH", "serve everything below this path, such as /tenant") {
            options, text throws(UsageError) in
            guard text.hasPrefix("/"), !text.hasSuffix("/") else { throw UsageError("must begin, but not end, with /") }
            options.configuration.issuerPath = text
        },
    ]

    private static let registration: [Option] = [
        .value("--client", "ID[:METHOD:SECRET]", "register one more client: basic or post, or jwt and a JWK or @FILE") {
            options, text throws(UsageError) in
            options.addedClients.append(try client(text))
        },
        .value("--redirect-uri", "URI", "register one more redirect URI for all clients; may be repeated") {
            options, text in
            options.addedRedirectURIs.append(text)
        },
        .value("--resource", "URI", "resource that tokens may be asked for, besides ours; may be repeated") {
            options, text in
            options.configuration.resources.append(text)
        },
        .value("--trusted-issuer", "NAME=JWK", "who may vouch for users, and his public JWK or @FILE; may be repeated")
        {
            options, text throws(UsageError) in
            let (name, key) = try trustedIssuer(text)
            options.configuration.trustedIssuers[name] = key
        },
        .flag("--require-par", "take no authorization request that was not pushed") { options in
            options.configuration.requiresPushedRequests = true
        },
        .value("--scopes", "LIST", "scopes that exist, separated by spaces") { options, text in
            options.configuration.scopes = text.split(separator: " ").map(String.init)
        },
        .value("--auto-approve", "yes|no", "answer /authorize at once, or show a page (default yes)") {
            options, text throws(UsageError) in
            options.configuration.approvesAutomatically = try choice(text, of: YesOrNo.self) == .yes
        },
        .value("--default-user", "NAME", "user when there is no login_hint (default alice)") { options, text in
            options.configuration.defaultUser = text
        },
    ]

    private static let tokens: [Option] = [
        .value("--access-token-lifetime", "SECONDS", "default 3600") { options, text throws(UsageError) in
            options.configuration.accessTokenLifetime = try seconds(text)
        },
        .value("--refresh-token-lifetime", "SECONDS", "from the log-in on (default: no end)") {
            options, text throws(UsageError) in
            options.configuration.refreshTokenLifetime = try seconds(text)
        },
        .value("--pushed-request-lifetime", "SECONDS", "default 60") { options, text throws(UsageError) in
            options.configuration.pushedRequestLifetime = try seconds(text)
        },
        .value("--code-lifetime", "SECONDS", "default 60") { options, text throws(UsageError) in
            options.configuration.codeLifetime = try seconds(text)
        },
        .value("--rotation", "always|never", "whether a refresh gives a new refresh token (default always)") {
            options, text throws(UsageError) in
            options.configuration.refreshRotation = try choice(
                text, of: AuthorizationServerConfiguration.RefreshRotation.self)
        },
        .value("--grace", "SECONDS", "how long a spent refresh token gives its successor again (default 0)") {
            options, text throws(UsageError) in
            options.configuration.graceWindow = try seconds(text)
        },
        .value(
            "--reuse", "revoke|revoke-user|refuse",
            "reuse ends the family, all of the user's, or nothing (default revoke)"
        ) {
            options, text throws(UsageError) in
            options.configuration.reuseResponse = try choice(
                text, of: AuthorizationServerConfiguration.ReuseResponse.self)
        },
        .value("--delay", "SECONDS", "wait before acting on a token request (default 0)") {
            options, text throws(UsageError) in
            options.behaviour.delay = try seconds(text)
        },
        .value("--reply-delay", "SECONDS", "wait between acting on a token request and its reply (default 0)") {
            options, text throws(UsageError) in
            options.behaviour.replyDelay = try seconds(text)
        },
        .value("--behaviour", "ID:NAME=VALUE,…", "other values for one client: rotation, grace, reuse, nonce-check, …")
        {
            options, text throws(UsageError) in
            options.behaviours.append(try clientBehaviour(text))
        },
        .flag("--one-access-token", "a refresh ends the access token given before") { options in
            options.configuration.keepsOneAccessToken = true
        },
        .flag("--no-refresh-tokens", "log-ins come without a refresh token") { options in
            options.withholdsRefreshTokens = true
        },
        .flag("--no-expires-in", "leave expires_in out of replies") { options in
            options.configuration.announcesExpiry = false
        },
        .value("--access-token-length", "N", "characters after the prefix (default 43)") {
            options, text throws(UsageError) in
            options.configuration.accessTokenLength = try integer(text, in: 22...8192)
        },
        .value("--id-token-alg", "ES256|RS256", "default ES256") { options, text throws(UsageError) in
            options.configuration.idTokenAlgorithm = try choice(
                text, of: AuthorizationServerConfiguration.SigningAlgorithm.self)
        },
        .value("--secret-marker", "TEXT", "text to put into every code and token, to find leaks by") { options, text in
            options.configuration.secretMarker = text
        },
    ]

    private static let dpop: [Option] = [
        .flag("--require-dpop", "refuse token requests without a proof") { options in
            options.requiresDPoP = true
        },
        .value("--nonce", "none|required|once", "required: one nonce at a time; once: a new one for each request") {
            options, text throws(UsageError) in
            options.nonceMode = try choice(text, of: Options.NonceMode.self)
        },
        .value("--nonce-rotation", "SECONDS", "life of a nonce with --nonce required (default 300)") {
            options, text throws(UsageError) in
            options.nonceRotation = try seconds(text)
        },
        .value("--nonce-check", "first|last|never", "last: spend the refresh token before looking at the nonce") {
            options, text throws(UsageError) in
            options.configuration.nonceCheck = try choice(text, of: AuthorizationServerConfiguration.NonceCheck.self)
        },
    ]

    private static let running: [Option] = [
        .value("--ready-file", "PATH", "write the ready line to this file, too") { options, text in
            options.readyFile = text
        },
        .value("--stop-after", "SECONDS", "stop by itself") { options, text throws(UsageError) in
            options.stopAfter = try seconds(text)
        },
        .flag("--exit-with-stdin", "stop when standard input is closed") { options in
            options.exitsWithStandardInput = true
        },
        .flag("--help", "show this text") { options in options.showsHelp = true },
    ]
}
