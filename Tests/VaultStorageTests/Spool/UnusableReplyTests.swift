import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

/// Replies that are kept because they may hold the next refresh token.
@Suite struct UnusableReplyTests {
    private func reply(
        _ login: LoginHandle, _ fixture: VaultFixture, body: [UInt8] = Array("CANARY-body".utf8)
    ) -> UnusableReplyRecord {
        UnusableReplyRecord(
            login: login, position: ChainPosition(chain: 1, generation: 1), fence: 7, receivedAt: fixture.now,
            status: 200, contentType: "text/html", cause: "because", isComplete: true, body: body)
    }

    @Test func aReplyComesBackAsItWas() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let kept = reply(login, fixture)
        try await store.keepUnusableReply(kept)
        #expect(try await store.unusableReplies(of: login) == [.init(handle: kept.handle, record: kept, damage: nil)])
        #expect(try await store.verify().isClean)
        // Sealed, and under the user's key.
        #expect(
            !String(decoding: try fixture.bytes("SELECT cell FROM unusableReply"), as: UTF8.self).contains("CANARY"))
    }

    @Test func boundsHold() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        for number in 0..<20 {
            try await store.keepUnusableReply(
                reply(login, fixture, body: Array(repeating: UInt8(number), count: 70_000)))
        }
        let kept = try await store.unusableReplies(of: login).compactMap(\.record)
        #expect(kept.count == UnusableReplyRecord.mostOfALogin)
        #expect(kept.allSatisfy { $0.body.count == 65_536 && !$0.isComplete })
    }

    @Test(arguments: [
        "UPDATE unusableReply SET receivedAt = receivedAt + 1", "UPDATE unusableReply SET handle = randomblob(16)",
        "UPDATE unusableReply SET login = 2", "UPDATE unusableReply SET cell = zeroblob(200)",
    ])
    func whatIsChangedIsNoticedAndHidesNothing(_ sql: String) async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let alice = try await store.insertLogin(fixture.draft("alice")).handle
        let bob = try await store.insertLogin(fixture.draft("bob")).handle
        try await store.keepUnusableReply(reply(alice, fixture))
        try fixture.edit(sql)
        let listings = try await store.unusableReplies(of: alice) + store.unusableReplies(of: bob)
        #expect(listings.count == 1)
        #expect(listings.first?.record == nil && listings.first?.damage != nil)
        #expect(try await store.verify().findings.map(\.place) == ["unusableReply"])
        #expect(try await store.session(.user("alice")).login == alice)
    }

    @Test func theyGoWithLoginUserAndTime() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let logins = [
            try await store.insertLogin(fixture.draft("alice")).handle,
            try await store.insertLogin(fixture.draft("bob")).handle,
            try await store.insertLogin(fixture.draft("carol")).handle,
            try await store.insertLogin(fixture.draft("dave")).handle,
        ]
        for login in logins { try await store.keepUnusableReply(reply(login, fixture)) }
        try await store.updateLogin(logins[0]) { $0.isRemoved = true }
        try await store.updateUser("bob") { $0.isErased = true }
        try await store.updateLogin(logins[2]) { $0.position = ChainPosition(chain: 2, generation: 2) }
        #expect(try fixture.integer("SELECT count(*) FROM unusableReply") == 1)
        let commits = store.commitCount
        try await store.forgetUnusableReplies(before: fixture.now)
        #expect(store.commitCount == commits, "nothing is written for nothing")
        try await store.forgetUnusableReplies(before: fixture.now.advanced(by: .seconds(1)))
        #expect(try fixture.integer("SELECT count(*) FROM unusableReply") == 0)
        #expect(try await store.verify().isClean)
    }
}
