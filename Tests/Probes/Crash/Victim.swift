import CFaultVFS
import Foundation
import HTTPTypes
import OAuthClient
import TokenVault
import TokenVaultHTTP

/// A service that does one thing to one login and is struck on the way.
struct Victim {
    private let options: Options
    private let striker: Striker
    private let vault: Vault
    private let users: UserManager
    private let transport: SeamTransport
    private let user: String

    static func run(_ options: Options) async throws {
        Striker.register()
        try await Victim(options).act()
    }

    private init(_ options: Options) async throws {
        self.options = options
        let striker = Striker(options)
        self.striker = striker
        user = try options.required("user")
        if options.text("action") == "open" { striker.arm() }
        vault = try await Service.openVault(options)
        let failures = options.text("failures").flatMap { Int($0) }
        let limit = options.text("limit").flatMap { Int($0) }
        let failing = options.integer("request", or: 1)
        transport = try SeamTransport(
            AsyncHTTPTransport(options: .loopback), server: options.integer("server", or: 0), striker
        ) { number in
            guard let failures, number == failing else { return }
            striker.failWrites(failures)
            if let limit { striker.limitFiles(to: limit) }
        }
        users = try await UserManager(
            vault: vault, transport: transport,
            options: UserManagerOptions(recoveryInterval: nil, retriesRevocationsInBackground: false, random: { 0 }))
    }

    private func act() async throws {
        if options.text("action") != "open" { striker.arm() }
        do {
            try await perform(try options.required("action"))
            say("acted")
        } catch {
            say("refused \(name(of: error))")
        }
        say("operations \(fault_vfs_matches())")
        await vault.close()
    }

    private func perform(_ action: String) async throws {
        switch action {
        case "open": break
        case "refresh": try await refresh()
        case "serve":
            try await SocketClient.renew(user, users, socket: options.required("socket"))
        case "recover": say("recovered \(try await users.recover())")
        case "login": try await logIn()
        case "add":
            _ = try await users.addLogin(
                userId: user, provider: options.required("provider"),
                refreshToken: RefreshToken(options.required("token")))
        case "logout": say("logout \(try await users.logOut(.user(user)).results.map(\.outcome))")
        case "set":
            try await users.updateAccessToken(
                userId: user, accessToken: AccessToken(options.required("access")),
                expiresAt: Date().addingTimeInterval(3600),
                refreshToken: options.text("token").map { try RefreshToken($0) })
        case "disable": _ = try await users.disableUser(user)
        case "erase": _ = try await users.eraseUser(user)
        case "revoke": _ = try await users.retryRevocations()
        case "provider":
            var change = ProviderChange()
            change.scope = try .set(Scope("read write"))
            _ = try await vault.updateProvider(named: options.required("provider"), change)
        default: throw Options.Missing(name: action)
        }
    }

    private func refresh() async throws {
        let token = try await users.updateAccessToken(userId: user)
        say(token.isVolatile ? "volatile" : "renewed")
        guard token.isVolatile else { return }
        // Its tokens are in the spool and nowhere else that lasts.
        switch options.text("served") {
        case "strike": striker.strike()
        // The disk works again from here on; struck is what brings the tokens into the vault.
        case "recovery": striker.arm()
        default: fault_vfs_disarm()
        }
    }

    /// The code flow, with a server that asks nobody.
    private func logIn() async throws {
        let request = try await users.beginLogIn(LogInRequest(userId: user, provider: options.required("provider")))
        guard let url = URLComponents(string: request.url) else { throw Options.Missing(name: "url") }
        var get = HTTPRequest(
            method: .get, scheme: "http", authority: "\(url.host ?? ""):\(url.port ?? 0)",
            path: url.percentEncodedPath + "?" + (url.percentEncodedQuery ?? ""))
        get.headerFields[.accept] = "*/*"
        let reply = try await transport.send(get, body: [], limits: .tokenEndpoint)
        guard let location = reply.response.headerFields[.location] else { throw Options.Missing(name: "location") }
        _ = try await users.completeLogIn(.url(location), boundTo: request.binding)
    }
}
