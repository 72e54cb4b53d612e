import EngineSupport
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// Another process that holds the vault's write lock for longer than anybody waits for it.
@Suite(.tags(.everyEngine))
struct BusyTests {
    @Test func aRenewalThatCannotBeNotedIsBusyAndSendsNothing() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.expire()
        let lock = try world.temporary.intruder().lockForWriting()
        let error = await #expect(throws: VaultError.self) { try await world.users.accessToken(for: .login(login.id)) }
        lock.release()
        #expect(error?.code == .busy)
        #expect(error?.retryAfter == .seconds(1))
        #expect(world.transport.requestCount == 0)
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
    }

    @Test func anOldTokenIsServedWhileItIsGood() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.time.advance(by: .seconds(3_400))
        let lock = try world.temporary.intruder().lockForWriting()
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "1")
        // Not for somebody who needs it for longer.
        #expect(
            await code {
                try await world.users.accessToken(for: .login(login.id), TokenRequest(minimumValidity: .seconds(600)))
            } == .busy)
        lock.release()
        #expect(world.transport.requestCount == 0)
    }
}
