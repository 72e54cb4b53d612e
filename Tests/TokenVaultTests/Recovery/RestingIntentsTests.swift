import EngineSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Where more renewals are in doubt than one pass looks at, each has its turn.
@Suite(.tags(.everyEngine))
struct RestingIntentsTests {
    @Test func eachPassGoesOnWhereTheOneBeforeItEnded() async throws {
        let world = try await World()
        let store = world.vault.store
        let now = world.vault.now
        var logins: [LoginHandle] = []
        for number in 0..<5 {
            let login = try await world.addChain(user: "user-\(number)", name: "\(number)").id.handle
            try await store.updateLogin(login) { _ = $0.openIntent(owner: 77, at: now) }
            logins.append(login)
        }
        let resting = RestingIntents()
        func pass() async -> [StoredIntent] { await resting.nextPage(of: store, limit: 2) }
        await #expect(pass().map(\.login) == [logins[0], logins[1]])
        let later = await pass()
        #expect(later.map(\.login) == [logins[2], logins[3]])
        // What rests goes on resting while other parts are looked at.
        resting.rest(later[0], until: now.advanced(by: .seconds(60)))
        await #expect(pass().map(\.login) == [logins[4]])
        #expect(resting.isResting(later[0], now: now))
        await #expect(pass().map(\.login) == [logins[0], logins[1]])
        // One that is open no more is forgotten when all have been seen.
        try await store.updateLogin(logins[2]) { $0.intent = nil }
        await #expect(pass().map(\.login) == [logins[3], logins[4]])
        await #expect(pass().map(\.login) == [])
        #expect(!resting.isResting(later[0], now: now))
        await #expect(pass().map(\.login) == [logins[0], logins[1]])
    }
}
