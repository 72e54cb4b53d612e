import Crypto
import EngineSupport
import Foundation
import HTTPTypes
import OAuthClient
import ProviderProfiles
import Testing
import TestSupport
import TokenVault
import TokenVaultTesting

/// A whole life of a login at every provider that has a profile, at a server that plays it after the profile's own data.
struct ProfileLifeTests {
    static let profiles: [ProfileText] = ShippedProfiles.files.compactMap {
        try? ProfileText(name: $0.name, text: $0.text)
    }

    private struct World: Sendable {
        let temporary: TestVault
        let time: ManualTimeSource
        let provider: PlayedProvider
        let users: UserManager
        let profile: ProfileText

        init(_ profile: ProfileText) async throws {
            self.profile = profile
            time = ManualTimeSource()
            provider = PlayedProvider(profile, time)
            temporary = try await TestVault(timeSource: time)
            try await temporary.vault.addProvider(Self.registration(profile, issuer: provider.issuer))
            users = try await UserManager(
                vault: temporary.vault, transport: provider,
                options: UserManagerOptions(recoveryInterval: nil, random: { 1 }))
        }

        private static func registration(_ profile: ProfileText, issuer: String) throws -> ProviderRegistration {
            let known = try ProviderProfile.named(profile.name)
            func endpoint(_ name: String) throws -> EndpointURL {
                try EndpointURL("https://login.\(profile.name).example/\(name)")
            }
            let secret = try ClientSecret("secret")
            let authentication: ClientAuthentication =
                switch profile.authentication {
                case "client_secret_basic": .clientSecretBasic(secret)
                case "client_secret_post": .clientSecretPost(secret)
                case "private_key_jwt":
                    .privateKeyJWT(try ClientAssertionKey(pem: P256.Signing.PrivateKey().pemRepresentation))
                default: .none
                }
            var registration = try ProviderRegistration(
                name: "acme", issuer: Issuer(issuer),
                authorizationEndpoint: known.endpoints.authorization ?? endpoint("authorization"),
                tokenEndpoint: known.endpoints.token ?? endpoint("token"),
                revocationEndpoint: profile.hasRevocation
                    ? known.endpoints.revocation(of: ClientID("client-1")) ?? endpoint("revocation") : nil,
                clientID: ClientID("client-1"), authentication: authentication, scope: Scope("one two"),
                redirectURI: RedirectURI("https://app.example/callback"), dpop: profile.isBound ? .required : .never)
            registration.profile = profile.name
            let hosts = known.variables.filter(\.isAnyHost)
            registration.apiOrigins = try hosts.map { try APIOrigin("https://\($0.example)") }
            if profile.isPushed { registration.pushedAuthorizationEndpoint = try endpoint("par") }
            return registration
        }

        func logIn(_ userId: String) async throws -> CompletedLogIn {
            try await time.passing {
                let request = try await users.beginLogIn(
                    LogInRequest(userId: userId, provider: "acme", variables: profile.values))
                return try await users.completeLogIn(
                    .url(try provider.consent(at: request.url)), boundTo: request.binding)
            }
        }

        func token(_ userId: String) async throws -> String {
            try await time.passing { try await users.accessToken(for: .user(userId)).accessToken.reveal() }
        }

        /// Past the time at which the token is renewed, and before the end of one that is itself exchanged.
        func expire() {
            let lifetime = profile.chainsAccessTokens ? PlayedProvider.longLifetime - 60 : PlayedProvider.lifetime + 1
            time.advance(by: .seconds(lifetime))
        }
    }

    @Test(arguments: profiles)
    func aLoginLivesAsItsProfileSays(profile: ProfileText) async throws {
        let world = try await World(profile)
        let done = try await world.logIn("alice")
        #expect(done.whyNotRenewable == nil)
        #expect(done.login.isDPoPBound == profile.isBound)
        for path: String in profile.value("reply.keep", or: []) where path != "authorization_details" {
            #expect(done.login.attributes[path] == "kept-\(path)", "\(path)")
        }
        for name: String in profile.value("callback.keep", or: []) {
            #expect(done.login.attributes[name] == "kept-\(name)", "\(name)")
        }
        for (name, value) in profile.values { #expect(done.login.attributes[name] == value) }
        // Three renewals, each with the token of the one before.
        let first = profile.optional("refresh.first.endpoint") as String? == nil ? 1 : 2
        #expect(try await world.token("alice") == "access-1-\(first)")
        for count in 1...3 {
            world.expire()
            #expect(try await world.token("alice") == "access-1-\(first + count)")
        }
        // Nothing about the values of the log-in is forgotten on the way.
        let login = try await world.users.vault.login(done.login.id)
        #expect(profile.values.allSatisfy { login.attributes[$0.key] == $0.value })
        #expect(world.provider.complaints == [])
    }

    @Test(arguments: profiles)
    func aLostReplyEndsTheLoginWhereTheProfileSaysSo(profile: ProfileText) async throws {
        let world = try await World(profile)
        _ = try await world.logIn("alice")
        world.expire()
        world.provider.loseNextReply()
        let survives = profile.rotation != "always" || profile.grace > 60
        let result = await world.time.passing { await code { try await world.token("alice") } }
        #expect((result == nil) == survives, "\(result?.name ?? "")")
        #expect(world.provider.complaints == [])
    }

    @Test(arguments: profiles)
    func anEndIsUnderstoodInTheProvidersWords(profile: ProfileText) async throws {
        let world = try await World(profile)
        let done = try await world.logIn("alice")
        world.expire()
        world.provider.endGrants()
        if profile.chainsAccessTokens {
            // The token that could not be exchanged is good until its end.
            _ = try await world.token("alice")
            world.time.advance(by: .seconds(61))
        }
        let end = await code { try await world.token("alice") }
        // A server that asks for another nonce may have spent the token before it did.
        let ends: [VaultError.Code?] = profile.isBound ? [.refreshFailed, .lostResponse] : [.refreshFailed]
        #expect(ends.contains(end), "\(end?.name ?? "")")
        #expect(try await world.users.vault.login(done.login.id).failure != nil)
        let sent = world.provider.requestCount
        #expect(await code { try await world.token("alice") } == end)
        #expect(world.provider.requestCount == sent, "a dead login is not asked for again")
        #expect(world.provider.complaints == [])
    }

    @Test(arguments: profiles)
    func aLogOutEndsTheGrantAtTheProvider(profile: ProfileText) async throws {
        let world = try await World(profile)
        let done = try await world.logIn("alice")
        let report = try await world.time.passing { try await world.users.logOut(.login(done.login.id)) }
        #expect(world.provider.revoked.isEmpty != profile.hasRevocation, "\(report)")
        #expect(world.provider.complaints == [])
    }
}
