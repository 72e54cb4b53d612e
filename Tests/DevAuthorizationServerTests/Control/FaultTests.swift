import AsyncHTTPClient
import DevAuthorizationServer
import NIOCore
import TestSupport
import Testing

struct FaultTests {
    @Test func actThenFailHidesTheRotation() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            server.faults.add(.status(500, afterActing: true))
            let reply = try await client.refresh(login.refresh)
            #expect(reply.status == 500)
            #expect(reply.body.isEmpty)
            #expect(server.counters.rotated == 1)
            #expect(server.faults.pending.isEmpty)
            let record = try #require(server.log.records.last)
            #expect((record.fault, record.acted, record.outcome, record.status) == ("status 500", true, "ok", 500))
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
        }
    }

    @Test func faultWithoutActingLeavesTheTokenAlone() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            server.faults.add(.throttled(retryAfter: "7"))
            let reply = try await client.refresh(login.refresh)
            #expect(reply.status == 429)
            #expect(reply.header("retry-after") == "7")
            #expect(server.log.records.last?.acted == false)
            #expect(try await client.refresh(login.refresh).status == 200)
        }
    }

    @Test(arguments: [
        Fault.drop(), .drop(afterActing: true), .reset(), .reset(afterActing: true), .cutBody(after: 0),
        .cutBody(after: 10), .cutBody(after: 10, reset: true),
    ])
    func brokenConnectionIsAnErrorForTheClient(fault: Fault) async throws {
        try await withServer { server in
            let login = try #require(server.issueGrant(user: "alice"))
            server.faults.add(fault)
            await #expect(throws: (any Error).self) { try await Client(server).refresh(login.refreshToken ?? "") }
            #expect(server.counters.rotated == (fault.acts ? 1 : 0))
            #expect(server.log.records.count == 1)
        }
    }

    @Test func resetIsSeenAsSuch() async throws {
        try await withServer { server in
            server.faults.add(.reset())
            let error = await #expect(throws: (any Error).self) { try await Client(server).refresh("x") }
            #expect((error as? IOError)?.errnoCode == 104)
        }
    }

    @Test func hangingReplyTimesOutAndDoesNotHoldTheServer() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        try await withServer { server in
            server.faults.add(.hang().for(path: "/jwks"))
            await #expect(throws: (any Error).self) {
                try await Wire.send("GET", server.base + "/jwks", timeout: .milliseconds(100))
            }
        }
        #expect(clock.now - start < .seconds(300))
    }

    @Test func delayComesBeforeOrAfterActing() async throws {
        try await withServer { server in
            let login = try #require(server.issueGrant(user: "alice"))
            server.faults.add(.delay(.seconds(3), afterActing: true))
            async let reply = Client(server).refresh(login.refreshToken ?? "")
            try await eventually { server.counters.rotated == 1 }
            #expect(try await reply.status == 200)

            let other = try #require(server.issueGrant(user: "bob"))
            server.faults.add(.delay(.seconds(3)))
            let clock = ContinuousClock()
            let start = clock.now
            async let late = Client(server).refresh(other.refreshToken ?? "")
            try await eventually { server.faults.pending.isEmpty }
            #expect(server.counters.rotated == 1)
            #expect(try await late.status == 200)
            #expect(clock.now - start >= .seconds(3))
        }
    }

    @Test func faultsWaitForTheirUserGrantAndTurn() async throws {
        try await withServer { server in
            let client = Client(server)
            let alice = try await client.logIn(user: "alice")
            let bob = try await client.logIn(user: "bob")
            server.faults.add(.status(503).for(grantType: "refresh_token", user: "bob").skipping(1).times(2))
            #expect(try await client.refresh(alice.refresh).status == 200)
            let rotated = try #require(try await client.refresh(bob.refresh).string("refresh_token"))
            #expect(try await client.refresh(rotated).status == 503)
            #expect(try await client.refresh(rotated).status == 503)
            #expect(try await client.refresh(rotated).status == 200)
        }
    }

    @Test func scriptedNonceChallengeAcceptsItsNonceOnce() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let code = try await client.code()
            server.faults.add(.nonceChallenge())
            let reply = try await client.exchange(code, proof: key.proof("POST", client.tokenURL))
            #expect(reply.error == "use_dpop_nonce")
            let nonce = try #require(reply.header("dpop-nonce"))
            let second = try await client.exchange(code, proof: key.proof("POST", client.tokenURL, nonce: nonce))
            #expect(second.status == 200)
            #expect(server.log.records.last?.proofNonce == nonce)
        }
    }

    @Test func replyCanBePatched() async throws {
        try await withServer { server in
            let login = try #require(server.issueGrant(user: "alice"))
            server.faults.add(.patch(["token_type": "mac", "refresh_token": nil]))
            let reply = try await Client(server).refresh(login.refreshToken ?? "")
            #expect(try reply.string("token_type") == "mac")
            #expect(try reply.json["refresh_token"] == nil)
            #expect(try reply.string("access_token") != nil)
        }
    }
}
