import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

import TokenVault

/// Why a provider refused a renewal can be seen, afterwards and from elsewhere.
struct RefusalTests {
    private func refuse(_ world: World, _ login: LoginID) async -> VaultError? {
        do {
            _ = try await world.users.accessToken(for: .login(login), .renewed)
            return nil
        } catch { return error as? VaultError }
    }

    @Test(arguments: [
        (
            ScriptedReply.json(
                #"{"error":"invalid_grant","error_description":"CANARY-refresh-1 was\u001b[31m revoked\nby an admin"}"#,
                status: .badRequest), "400 invalid_grant: [hidden] was[31m revokedby an admin", "400 invalid_grant"
        ),
        (
            .json(#"{"error":"temporarily_unavailable"}"#, status: .badRequest), "400 temporarily_unavailable",
            "400 temporarily_unavailable"
        ),
        (
            .json(#"{"error":"tenant_paused","error_description":"pay first"}"#, status: .forbidden),
            "403 tenant_paused: pay first", "403"
        ),
        (.status(HTTPResponse.Status(code: 418), body: "CANARY-teapot"), "418", "418"),
        (.status(.serviceUnavailable), "503", "503"),
    ])
    func whatTheProviderSaidStaysWithTheLogin(reply: ScriptedReply, words: String, told: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        #expect(try await world.vault.login(login.id).lastRefusal == nil)
        world.transport.fallback = reply
        let error = await world.withTimePassing { await refuse(world, login.id) }
        #expect(error?.answer?.words == words)
        let refusal = try #require(try await world.anotherProcess().vault.login(login.id).lastRefusal)
        #expect(refusal.answer.words == words)
        var dumped = ""
        dump(try await world.vault.login(login.id), to: &dumped)
        for text in [dumped, "\(refusal)", "\(String(describing: error))", world.logs.text] {
            #expect(!text.contains("CANARY") && !text.contains("pay first"))
        }
        // The trail has status and code, and no words that anybody could have chosen.
        let details = try await world.vault.store.auditEntries(after: 0, limit: 1_000).flatMap(\.detail)
        #expect(details.filter { $0.key == "answer" }.map(\.value).last == told)
        #expect(!details.contains { $0.value.contains("CANARY") || $0.value.contains("pay") })
    }

    @Test func aSuccessForgetsIt() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.error("temporarily_unavailable"))
        #expect(await refuse(world, login.id)?.answer?.words == "400 temporarily_unavailable")
        world.time.advance(by: .seconds(600))
        world.transport.enqueue(.generation("2"))
        #expect(await refuse(world, login.id) == nil)
        #expect(try await world.vault.login(login.id).lastRefusal == nil)
    }

    @Test func anEventSaysWhatTheProviderAnswered() async throws {
        let world = try await World()
        let login = try await world.addChain()
        var events = world.users.events(of: .login(login.id)).makeAsyncIterator()
        world.transport.enqueue(.error("invalid_grant"))
        _ = await refuse(world, login.id)
        while let event = await events.next(isolation: nil) {
            guard case .refreshFailed = event.kind else { continue }
            #expect(event.answer == "400 invalid_grant")
            break
        }
    }
}
