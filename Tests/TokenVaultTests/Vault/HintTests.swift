import EngineSupport
import OAuthClient
import Testing
import TokenVaultTesting

import TokenVault

/// What a newcomer reads of an error.
@Suite(.tags(.everyEngine))
struct HintTests {
    private func error<R>(of body: () async throws -> R) async -> VaultError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? VaultError
        }
    }

    @Test func namesThatMatchNothingHaveAHint() async throws {
        let world = try await World()
        let users = world.users
        let login = try await world.addChain()
        _ = try await users.logOut(.login(login.id))
        let forged = LogInCallback.url("https://app.example/callback?code=x&state=" + String(repeating: "s", count: 43))
        let cases: [(VaultError?, VaultError.Code, String)] = [
            (
                await error { try await users.accessToken(userId: "bob") }, .unknownUser,
                "addLogin or a log-in makes a user"
            ),
            (
                await error { try await users.accessToken(for: .login(login.id)) }, .unknownLogin,
                "a log-in makes a new one"
            ),
            (
                await error { try await users.beginLogIn(LogInRequest(userId: "bob", provider: "no")) },
                .unknownProvider, "addProvider makes one"
            ),
            (
                await error { try await users.completeLogIn(forged, boundTo: .random()) }, .unknownAuthorizationRequest,
                "it was completed, has expired, or was begun elsewhere"
            ),
        ]
        for (error, code, hint) in cases {
            let error = try #require(error)
            #expect(error.code == code)
            #expect(error.hint?.contains(hint) == true, "\(code): \(error.hint ?? "none")")
            // One line each; what leaves `main` has the hint.
            #expect("\(error)" == error.message)
            #expect(error.debugDescription == "\(code): \(error.message) (hint: \(error.hint ?? ""))")
            #expect(!error.debugDescription.contains("\n"))
        }
    }

    /// The names of a tenant's providers are not another tenant's business.
    @Test func aHintNamesNoProvider() async throws {
        let world = try await World()
        let tenant = try #require(Tenant("contoso"))
        _ = try await world.vault.addProvider(Sample.provider(name: "secretive"), of: tenant)
        let request = LogInRequest(userId: "bob", provider: "secret")
        let error = try #require(await error { try await world.users.beginLogIn(request) })
        #expect(!error.debugDescription.contains("secretive"))
        #expect(!error.debugDescription.contains("contoso"))
    }

    @Test func anAmbiguousLoginNamesItsChoices() async throws {
        let world = try await World()
        let ids = [try await world.addChain().id, try await world.addChain(name: "2").id]
        let error = try #require(await error { try await world.users.accessToken(userId: "alice") })
        for id in ids { #expect(error.debugDescription.contains(id.description)) }
        #expect(!"\(error)".contains(ids[0].description))
    }
}
