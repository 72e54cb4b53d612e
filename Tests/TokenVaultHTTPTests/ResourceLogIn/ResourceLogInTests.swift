import DevAuthorizationServer
import Foundation
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultResources
import TokenVaultTesting

/// From the address of an API to a login that serves it.
struct ResourceLogInTests {
    @Test(arguments: ProtectedResourceBehaviour.MetadataPlace.allCases)
    func aLoginComesFromTheAddressAlone(place: ProtectedResourceBehaviour.MetadataPlace) async throws {
        try await ResourceLogInWorld.with({ $0.protectedResource = .sample }) { world in
            world.server.protectedResource?.metadataPlace = place
            let login = try await world.logIn()
            #expect(try await world.get(login).head.status == .ok)
            // It registered itself, once, and every request for a token named the resource.
            #expect(world.paths.filter { $0 == "/register" }.count == 1)
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
            #expect(world.grants.allSatisfy { $0.resources == [world.server.resourceURL] })
            #expect(world.grants.count == 2)
            #expect(try await world.get(login).head.status == .ok)
            let token = try await world.users.accessToken(for: .login(login.id))
            #expect(token.resource == world.server.resourceURL)
            #expect(token.scope?.tokens == ["read"])
            // A second user needs no second client.
            _ = try await world.logIn("bob")
            #expect(world.paths.filter { $0 == "/register" }.count == 1)
            #expect(try await world.users.vault.providers().count == 1)
        }
    }

    /// The challenge of a refused request is used, and the resource is not asked once more.
    @Test func aRefusalSaysWhereToLogIn() async throws {
        try await ResourceLogInWorld.with { world in
            let reply = try await world.transport.send(
                HTTPRequest(
                    method: .get, scheme: "http", authority: "127.0.0.1:\(world.server.port)", path: "/resource"),
                body: [], limits: .discovery)
            let login = try await world.complete(world.begin(refusedWith: reply.response))
            #expect(world.paths.filter { $0 == "/resource" }.count == 1)
            #expect(try await world.get(login).head.status == .ok)
        }
    }

    @Test func aClientOfADocumentRegistersNowhere() async throws {
        let document = Box<[UInt8]>([])
        try await ResourceLogInWorld.with({ $0.fetchClientDocument = { _ in document.value } }) { world in
            var world = world
            let id = "https://app.example/client.json"
            world.client = try ResourceClient(redirectURI: "http://127.0.0.1/callback", documentURL: id)
            document.value = Array(try world.client.metadataDocument().utf8)
            let login = try await world.logIn()
            #expect(try await world.get(login).head.status == .ok)
            #expect(!world.paths.contains("/register"))
            #expect(try await world.users.vault.providers().map(\.clientID.rawValue) == [id])
        }
    }

    @Test func aDocumentNamesEachRedirectURI() throws {
        var client = try ResourceClient(redirectURI: "https://app.example/cb/{provider}", clientName: "Ex\"ample")
        #expect(throws: VaultError.self) { try client.metadataDocument() }
        client.documentURL = "https://app.example/client.json"
        #expect(throws: VaultError.self) { try client.metadataDocument() }
        let text = try client.metadataDocument(
            redirectURIs: [RedirectURI("https://app.example/cb/a")], scope: Scope("read"))
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(document["client_id"] as? String == "https://app.example/client.json")
        #expect(document["redirect_uris"] as? [String] == ["https://app.example/cb/a"])
        #expect(document["application_type"] as? String == "web" && document["client_name"] as? String == "Ex\"ample")
        #expect(document["token_endpoint_auth_method"] as? String == "none" && document["scope"] as? String == "read")
    }

    /// A login without a refresh token would end with its first token.
    @Test func offlineAccessIsAskedForWhereTheServerHasIt() async throws {
        try await ResourceLogInWorld.with({ $0.scopes = ["read", "offline_access"] }) { world in
            let begun = try await world.begin()
            #expect(begun.url.contains("scope=read+offline_access"))
        }
    }

    /// The vault's own provider for the issuer comes first, whatever its name.
    @Test func aProviderThatIsThereIsTaken() async throws {
        try await ResourceLogInWorld.with({
            $0.registration = nil; $0.fetchClientDocument = nil
        }) { world in
            await expect(.invalidArgument) { try await world.begin() }
            try await world.users.addProvider(
                "own", issuer: world.server.base, clientID: "demo", redirectURI: "http://127.0.0.1/callback")
            // A stranger's resource gets no token of a client that an operator has added for something else.
            await expect(.originNotAllowed) { try await world.begin() }
            #expect(world.grants.isEmpty)
            var change = ProviderChange()
            change.apiOrigins = [try APIOrigin(world.server.base, allowsInsecureLoopback: true)]
            try await world.users.vault.changeProvider(named: "own", change)
            let login = try await world.logIn()
            #expect(login.provider == "own")
            #expect(try await world.get(login).head.status == .ok)
        }
    }

    @Test func tokensGoToTheResourceAlone() async throws {
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            let base = world.server.base
            let asked = world.paths.count
            for url in [
                "\(base)/token", "\(base)/resource2", "\(base)/resource/../dev/grants", "https://evil.example/resource",
            ] {
                await expect(.originNotAllowed) {
                    try await world.api.get(url, for: .login(login.id))
                }
                let token = try await world.users.accessToken(for: .login(login.id))
                await expect(.originNotAllowed) {
                    let target = try EndpointURL(url, allowsInsecureLoopback: true)
                    return try await world.users.authorize(
                        HTTPRequest(
                            method: .get, scheme: target.scheme, authority: target.authority, path: target.requestTarget
                        ),
                        with: token)
                }
            }
            await expect(.resourceRefused) {
                try await world.users.accessToken(
                    for: .login(login.id), TokenRequest(resource: "https://evil.example/resource"))
            }
            #expect(world.paths.count == asked)
            #expect(try await world.get(login, below: "/x").head.status == .ok)
        }
    }

    /// Under their own names, and apart.
    @Test func tenantsBecomeClientsOfTheirOwn() async throws {
        try await ResourceLogInWorld.with { world in
            let tenant = try #require(Tenant("contoso"))
            let users = world.users.scoped(to: tenant)
            let logIn = ResourceLogIn(userId: "alice", resource: world.server.resourceURL)
            let begun = try await users.beginLogIn(logIn, as: world.client)
            let login = try await users.completeLogIn(.url(world.visit(begun.url)), boundTo: begun.binding).login
            #expect(
                try await world.api.scoped(to: tenant).get(world.server.resourceURL, for: .login(login.id)).head.status
                    == .ok)
            // A user of no tenant takes no tenant's client.
            let own = try await world.logIn("zoe")
            #expect(try await world.get(own).head.status == .ok)
            #expect(world.paths.filter { $0 == "/register" }.count == 2)
        }
    }

    @Test func aDisabledUserReachesNoServer() async throws {
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            _ = try await world.users.disableUser("alice")
            let asked = world.paths.count
            await expect(.userDisabled) { try await world.begin() }
            #expect(world.paths.count == asked && login.userId == "alice")
        }
    }

    /// What the user once decided is asked for again, and not all that the resource knows.
    @Test func aLogInIntoALoginWidensNothing() async throws {
        try await ResourceLogInWorld.with({ $0.protectedResource = .sample }) { world in
            world.server.protectedResource?.challengeScope = nil
            let first = try await world.users.beginLogIn(
                ResourceLogIn(userId: "alice", resource: world.server.resourceURL, scope: Scope("read")),
                as: world.client)
            let login = try await world.complete(first)
            let again = try await world.users.beginLogIn(
                ResourceLogIn(into: .login(login.id)), as: world.client)
            #expect(again.url.contains("scope=read&"))
            _ = try await world.complete(again)
            #expect(try await world.users.accessToken(for: .login(login.id)).scope?.tokens == ["read"])
        }
    }

    // MARK: More scope

    @Test func moreScopeIsAnotherConsentIntoTheSameLogin() async throws {
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            let refused = try await world.get(login, below: "/write")
            #expect(refused.head.status == .forbidden)
            let scope = try #require(refused.missingScope)
            #expect(scope.tokens == ["write"])
            // Nothing was renewed for it.
            #expect(world.grants.count == 1)
            let begun = try await world.users.beginLogIn(LogInRequest(into: .login(login.id), adding: scope))
            let again = try await world.complete(begun)
            #expect(again.id == login.id)
            #expect(try await world.get(login, below: "/write").head.status == .ok)
            #expect(try await world.users.accessToken(for: .login(login.id)).scope?.tokens == ["read", "write"])
            // And the first scope is still there for the next.
            let admin = try #require(try await world.get(login, below: "/admin").missingScope)
            let last = try await world.complete(
                world.users.beginLogIn(LogInRequest(into: .login(login.id), adding: admin)))
            #expect(
                try await world.users.accessToken(for: .login(last.id)).scope?.tokens == ["read", "write", "admin"])
        }
    }

    /// Two tasks, or two processes, that have met the same refusal.
    @Test func oneConsentServesAll() async throws {
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            let other = try await UserManager(vault: world.temporary.vault, transport: world.transport)
            let write = LogInRequest(into: .login(login.id), adding: try Scope("write"))
            let first = try await world.users.beginLogIn(write)
            let second = try await other.beginLogIn(write)
            #expect(second.url == first.url && second.state == first.state)
            #expect(second.binding.reveal() == first.binding.reveal())
            // Another scope is a consent of its own, to everything that is being asked for.
            let admin = try await other.beginLogIn(LogInRequest(into: .login(login.id), adding: try Scope("admin")))
            #expect(admin.url != first.url)
            #expect(admin.url.contains("scope=read+write+admin"))
            // Who wants more of the user than a scope gets it.
            var parameters = LogInParameters()
            parameters.prompt = "login"
            let strong = try await other.beginLogIn(
                LogInRequest(into: .login(login.id), parameters: parameters, adding: try Scope("write")))
            #expect(strong.url != first.url && strong.url.contains("prompt=login"))
            // Whose app wants other things back is sent on its own way.
            let own = try await other.beginLogIn(
                LogInRequest(into: .login(login.id), context: ["returnTo": "/x"], adding: try Scope("write")))
            #expect(own.url != first.url && own.url != admin.url)
            _ = try await world.complete(admin)
            // The narrower one would take away what the wider one has brought.
            await expect(.conflict) { try await world.complete(first) }
            #expect(
                try await world.users.accessToken(for: .login(login.id)).scope?.tokens == ["read", "write", "admin"])
            #expect(try await world.get(login, below: "/admin").head.status == .ok)
        }
    }

    @Test(arguments: [ResourceHostility.endlessStepUp, .shrinkingScopes])
    func aUserIsAskedTwiceAtMost(hostility: ResourceHostility) async throws {
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            world.server.protectedResource?.hostility = [hostility]
            for _ in 0..<2 {
                let scope = try #require(try await world.get(login, below: "/write").missingScope)
                _ = try await world.complete(
                    world.users.beginLogIn(LogInRequest(into: .login(login.id), adding: scope)))
            }
            let scope = try #require(try await world.get(login, below: "/write").missingScope)
            await expect(.resourceRefused) {
                try await world.users.beginLogIn(LogInRequest(into: .login(login.id), adding: scope))
            }
            // An ordinary log-in is the user's own will.
            _ = try await world.users.beginLogIn(LogInRequest(into: .login(login.id)))
        }
    }

    // MARK: What must not happen

    @Test(arguments: [
        ResourceHostility.mismatchedResource, .insecureMetadata, .redirectedMetadata, .longMetadata, .noServers,
        .mismatchedIssuer, .noPKCE,
    ])
    func aHostileResourceGetsNoLogIn(hostility: ResourceHostility) async throws {
        try await ResourceLogInWorld.with { world in
            world.server.protectedResource?.hostility = [hostility]
            await expect(.protocolViolation) { try await world.begin() }
            try await #expect(world.users.vault.providers().isEmpty)
            #expect(!world.paths.contains("/register"))
        }
    }

    @Test func aCallbackOfAnotherIssuerIsRefused() async throws {
        try await ResourceLogInWorld.with { world in
            world.server.protectedResource?.hostility = [.wrongIssuerInCallback]
            await expect(.protocolViolation) { try await world.complete(world.begin()) }
            #expect(world.grants.isEmpty)
        }
    }

    /// The login keeps its id and says that it needs its user; no token goes to the resource any more.
    @Test func aResourceThatMovesDoesNotTakeALoginAlong() async throws {
        let other = try await DevAuthorizationServer.start(AuthorizationServerConfiguration())
        try await ResourceLogInWorld.with { world in
            let login = try await world.logIn()
            world.server.protectedResource?.authorizationServers = [other.base]
            world.server.acceptTokens(of: other)
            await expect(.protocolViolation) {
                try await world.users.beginLogIn(ResourceLogIn(into: .login(login.id)), as: world.client)
            }
            let asked = world.paths.filter { $0 == "/resource" }.count
            await expect(.needsUserInteraction) { try await world.get(login) }
            await expect(.needsUserInteraction) { try await world.users.accessToken(for: .login(login.id)) }
            await expect(.needsUserInteraction) {
                try await world.users.accessToken(for: .login(login.id), TokenRequest(scope: Scope("read")))
            }
            // Nor does a log-in that asks the resource nothing bring it back.
            await expect(.protocolViolation) {
                try await world.users.beginLogIn(LogInRequest(into: .login(login.id), scope: Scope("read")))
            }
            #expect(world.paths.filter { $0 == "/resource" }.count == asked)
            #expect(other.log.records.isEmpty)
            // It moves back, and the user logs in again.
            world.server.protectedResource?.authorizationServers = nil
            let back = try await world.complete(
                world.users.beginLogIn(ResourceLogIn(into: .login(login.id)), as: world.client))
            #expect(back.id == login.id)
            #expect(try await world.get(back).head.status == .ok)
        }
        await other.shutDown()
    }

    @Test func thePolicyComesBeforeTheFirstRequest() async throws {
        try await ResourceLogInWorld.with { world in
            var world = world
            world.client.allowedResources = [try APIOrigin("https://*.mcp.example")]
            await expect(.invalidArgument) { try await world.begin() }
            #expect(world.paths.isEmpty)
            world.client.allowedResources = []
            world.client.allowedIssuers = [try APIOrigin("https://login.example")]
            await expect(.invalidArgument) { try await world.begin() }
            #expect(!world.paths.contains { $0.contains("oauth-authorization-server") })
        }
    }

    /// Addresses of private networks, and names that lead there.
    @Test(arguments: ["https://10.0.0.1/mcp", "https://169.254.169.254/", "https://[::1]/mcp", "https://localhost/mcp"])
    func aPrivateAddressIsNotAsked(resource: String) async throws {
        try await ResourceLogInWorld.with { world in
            let logIn = ResourceLogIn(userId: "alice", resource: resource)
            let open = AsyncHTTPTransport()
            #expect(open.mayReachPrivateAddresses)
            let users = try await UserManager(vault: world.temporary.vault, transport: open)
            await expect(.invalidArgument) { try await users.beginLogIn(logIn, as: world.client) }
            await open.shutdown()
            let guarded = AsyncHTTPTransport(options: .init(deniesAddress: AsyncHTTPTransport.isSpecialPurpose))
            #expect(!guarded.mayReachPrivateAddresses)
            let guardedUsers = try await UserManager(vault: world.temporary.vault, transport: guarded)
            await expect(.invalidArgument) { try await guardedUsers.beginLogIn(logIn, as: world.client) }
            await guarded.shutdown()
        }
    }
}
