import EngineSupport
import Foundation
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Users who are in another system until they are needed here.
@Suite(.tags(.everyEngine))
struct LoginSourceTests {
    private final class OldSystem: LoginSource {
        let name = "web"
        let asked = Mutex<[String]>([])
        let users: Mutex<[String: [ReleasedLogin]]>
        let gate: Gate?

        init(_ users: [String: [ReleasedLogin]], gate: Gate? = nil) {
            self.users = Mutex(users)
            self.gate = gate
        }

        func release(userId: String) async throws -> [ReleasedLogin] {
            asked.withLock { $0.append(userId) }
            await gate?.pass()
            return users.withLock { $0[userId] ?? [] }
        }
    }

    private static func login(_ name: String, provider: String = "acme") throws -> ReleasedLogin {
        ReleasedLogin(
            key: name, provider: provider, accessToken: try AccessToken("CANARY-a\(name)"),
            refreshToken: try RefreshToken("CANARY-r\(name)"), subject: name)
    }

    private func scene(
        _ system: OldSystem, _ body: (TestVault, UserManager, ScriptedTransport) async throws -> Void
    ) async throws {
        let temporary = try await TestVault(in: .memory, timeSource: ManualTimeSource())
        try await temporary.vault.addProvider(Sample.provider())
        let transport = ScriptedTransport()
        transport.fallback = .freshTokens()
        var options = UserManagerOptions.deterministic
        options.loginSource = system
        let users = try await UserManager(vault: temporary.vault, transport: transport, options: options)
        try await body(temporary, users, transport)
        #expect(try await temporary.vault.verify().isClean)
    }

    /// He was told so before another pull had ended.
    @Test func whoComesAfterAPullForAnUnknownUserAsksNobody() async throws {
        let system = OldSystem(["alice": [try Self.login("1")]])
        try await scene(system) { temporary, _, _ in
            let pulls = LoginPulls()
            try await pulls.pull("alice", from: system, into: temporary.vault)
            try await pulls.pull("alice", from: system, into: temporary.vault)
            #expect(system.asked.withLock { $0 } == ["alice"])
            #expect(try await temporary.vault.logins(ofUser: "alice").count == 1)
        }
    }

    @Test func aUserWhomTheVaultDoesNotKnowIsPulledOnce() async throws {
        let gate = Gate()
        let system = OldSystem(["alice": [try Self.login("1")]], gate: gate)
        try await scene(system) { temporary, users, _ in
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await users.accessToken(userId: "alice").accessToken.reveal() }
                }
                while system.asked.withLock({ $0.isEmpty }) { await Task.yield() }
                gate.open()
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(Set(tokens) == ["CANARY-a1"] && tokens.count == 50)
            #expect(system.asked.withLock { $0 } == ["alice"])
            let entries = try await temporary.vault.logins(ofUser: "alice")
            guard case .login(let login)? = entries.first, entries.count == 1 else {
                Issue.record("\(entries)")
                return
            }
            #expect(login.origin?.source == "web" && login.origin?.owner == .vault)
            #expect(try await users.validAccessToken(for: .user("alice", provider: "acme")) != nil)
        }
    }

    @Test func thePulledChainIsRenewedHere() async throws {
        var login = try Self.login("1")
        login.accessToken = nil
        try await scene(OldSystem(["alice": [login]])) { _, users, transport in
            _ = try await users.accessToken(for: .user("alice", provider: "acme"))
            #expect(transport.requests.map { $0.form["refresh_token"] } == ["CANARY-r1"])
        }
    }

    @Test func whoIsUnknownThereStaysUnknown() async throws {
        let system = OldSystem([:])
        try await scene(system) { _, users, _ in
            #expect(await code { try await users.accessToken(userId: "bob") } == .unknownUser)
            // A login that is named by its id is no user.
            #expect(await code { try await users.accessToken(userId: "bob") } == .unknownUser)
            #expect(system.asked.withLock { $0.count } == 2)
        }
    }

    @Test func aUserWhoHasBeenHereIsNotPulledAgain() async throws {
        let system = OldSystem(["alice": [try Self.login("1")]])
        try await scene(system) { temporary, users, _ in
            let token = try await users.accessToken(userId: "alice")
            try await users.logOut(.login(token.login), revokes: false)
            #expect(await code { try await users.accessToken(userId: "alice") } == .notLoggedIn)
            #expect(system.asked.withLock { $0.count } == 1)
            _ = temporary
        }
    }

    @Test func whatWasReleasedAndNotStoredComesWithTheNextCall() async throws {
        let system = OldSystem(["alice": [try Self.login("1"), try Self.login("2", provider: "other")]])
        try await scene(system) { temporary, users, _ in
            #expect(await code { try await users.accessToken(userId: "alice") } == .unknownProvider)
            #expect(try await temporary.vault.status().logins == 0)
            try await temporary.vault.addProvider(Sample.provider(name: "other"))
            // Of two logins none is meant.
            #expect(await code { try await users.accessToken(userId: "alice") } == .ambiguousLogin)
            #expect(try await temporary.vault.status().logins == 2)
            _ = try await users.accessToken(for: .user("alice", provider: "other"))
        }
    }

    @Test func noSecretIsShown() throws {
        var text = ""
        dump(try Self.login("1"), to: &text)
        #expect(!"\(text)\(try Self.login("1"))".contains("CANARY-"))
    }
}
