import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// A damaged row stops nothing but itself: every operation on other rows comes to the same as without the damage.
struct DamageIsolationTests {
    private static let victim = "victim"
    private static let tables = [
        "provider", "user", "login", "loginSecret", "refreshIntent", "outbox", "authorizationRequest", "unusableReply",
    ]

    /// A closed vault. The first row of each table is the victim's.
    private struct Image: Sendable {
        let temporary: TestVault
        let time: ManualTimeSource
        let begun: AuthorizationRequest
        let logins: [String: LoginID]
    }

    private static let file = Task { try await makeImage() }

    /// Of a file there are copies; on a server the rows are put back, so that each test needs a vault of its own.
    private static func image() async throws -> Image {
        try await TestEngine.isServer ? makeImage() : file.value
    }

    private static func makeImage() async throws -> Image {
        let time = ManualTimeSource()
        let temporary = try await TestVault(in: .memory, timeSource: time)
        let transport = ScriptedTransport()
        transport.fallback = .status(.serviceUnavailable)
        let vault = temporary.vault
        for name in ["spoiled", "acme", "idle"] {
            try await vault.addProvider(Sample.provider(name: name))
        }
        let users = try await UserManager(vault: vault, transport: transport, options: World.options)
        var logins: [String: LoginID] = [:]
        for (user, provider) in [
            (victim, "spoiled"), ("alice", "acme"), ("bob", "acme"), ("carol", "acme"), ("dora", "acme"),
        ] {
            logins[user] =
                try await users.addLogin(
                    userId: user, provider: provider, accessToken: Sample.accessToken(user),
                    expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken(user)
                ).id
        }
        let ended = try await users.addLogin(
            userId: victim, provider: "spoiled", accessToken: Sample.accessToken("ended"),
            expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken("ended"))
        try await users.logOut(.login(ended.id))
        let other = try await users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("ended-2"),
            expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken("ended-2"))
        try await users.logOut(.login(other.id))
        _ = try await users.beginLogIn(LogInRequest(userId: victim, provider: "spoiled"))
        let begun = try await users.beginLogIn(LogInRequest(userId: "erin", provider: "acme"))
        let handle = try #require(logins[victim]?.handle)
        try await vault.store.keepUnusableReply(
            UnusableReplyRecord(
                login: handle, position: .first, fence: 1, receivedAt: vault.now, status: 200, contentType: nil,
                cause: "garbled", isComplete: true, body: Array("{".utf8)))
        let now = vault.now
        try await vault.updateLogin(handle) { _ = $0.openIntent(owner: 0, at: now, tries: 1) }
        await vault.close()
        if TestEngine.isServer { try temporary.intruder().keepRows() }
        return Image(temporary: temporary, time: time, begun: begun, logins: logins)
    }

    /// The vault as it was, in a directory of its own if it is a file, with one bit changed.
    private func layOut(_ image: Image, _ flip: (table: String, column: String, atEnd: Bool)?) throws -> CopyDirectory {
        let directory = try CopyDirectory(of: image.temporary.address)
        let intruder = try TableIntruder(directory.address)
        if TestEngine.isServer { try intruder.restoreRows() }
        if let flip { try intruder.flip(flip.table, flip.column, row: 1, atEnd: flip.atEnd) }
        return directory
    }

    /// What every operation comes to, in words without random handles.
    private func transcript(_ image: Image, in directory: CopyDirectory) async throws -> [String: String] {
        let vault = try await Vault.open(
            in: TestVault.location(directory.address, in: directory.path),
            unlockedBy: .keyFile(image.temporary.keyFile), options: VaultOptions(timeSource: image.time))
        let transport = ScriptedTransport()
        transport.fallback = ScriptedReply { request throws(HTTPTransportError) in
            request.path == "/revoke"
                ? try await ScriptedReply.status(.ok).reply(to: request)
                : try await ScriptedReply.generation("new").reply(to: request)
        }
        let users = try await UserManager(vault: vault, transport: transport, options: World.options)
        var said = Transcript()
        await said.readings(vault, users, image.logins, victim: Self.victim)
        await said.changes(vault, users, image.logins, begun: image.begun)
        await vault.close()
        return said.lines
    }

    @Test(arguments: tables) func nothingElseIsStopped(table: String) async throws {
        let image = try await Self.image()
        let expected = try await transcript(image, in: layOut(image, nil))
        #expect(expected.count > 35)
        #expect(expected.values.filter { $0.hasPrefix("error") }.isEmpty, "\(expected)")
        let whole = try layOut(image, nil)
        let columns = try withExtendedLifetime(whole) {
            try TableIntruder(whole.address).columns(of: table, row: 1)
        }
        var (flips, compared) = (0, 0)
        for column in columns where column != "id" {
            for atEnd in [false, true] {
                let found = try await transcript(image, in: layOut(image, (table, column, atEnd)))
                for (operation, outcome) in expected {
                    #expect(found[operation] == outcome, "\(table).\(column), at its end: \(atEnd): \(operation)")
                    compared += 1
                }
                flips += 1
            }
        }
        print("isolation \(table): \(flips) flips, \(expected.count) operations each, \(compared) outcomes compared")
        #expect(flips >= 4)
    }
}

/// A vault's file once more, or the place of its spool if it is on a server. Removed with the test that uses it.
private final class CopyDirectory: Sendable {
    let path: String
    let address: String

    init(of original: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "damage-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.path = path
        address = TestEngine.isServer ? original : path + "/vault.db"
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original + suffix) {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: address + suffix)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Operations and what came of them.
private struct Transcript {
    var lines: [String: String] = [:]

    mutating func note(_ operation: String, _ body: () async throws -> String) async {
        do {
            lines[operation] = try await body()
        } catch let error as VaultError {
            lines[operation] = "error \(error.code)"
        } catch {
            lines[operation] = "error \(error)"
        }
    }

    mutating func readings(
        _ vault: Vault, _ users: UserManager, _ logins: [String: LoginID], victim: String
    ) async {
        guard let alice = logins["alice"] else { return }
        func others(_ entries: [LoginEntry]) -> String {
            entries.compactMap { entry in
                if case .login(let login) = entry, login.userId != victim {
                    "\(login.userId) at \(login.provider ?? "?")"
                } else {
                    nil
                }
            }.sorted().joined(separator: ", ")
        }
        await note("providers") {
            try await vault.providerEntries().compactMap(\.provider?.name).filter { $0 != "spoiled" }.joined(
                separator: ",")
        }
        await note("provider") { try await vault.provider(named: "acme").clientID.rawValue }
        await note("profile") { try await vault.profile(ofProvider: "acme").name }
        await note("users") {
            try await vault.userPage().entries.compactMap { entry in
                if case .user(let user) = entry, user.id != victim { user.id } else { nil }
            }.sorted().joined(separator: ",")
        }
        await note("user") { "\(try await vault.user("alice").logins.count)" }
        await note("logins") { others(try await vault.logins()) }
        await note("logins of a user") { others(try await vault.logins(ofUser: "alice")) }
        await note("login") {
            "\(try await vault.login(alice).generation) \(try await vault.login(alice).provider ?? "?")"
        }
        await note("token of a user") { try await users.accessToken(userId: "alice").name }
        await note("token of a login") { try await users.accessToken(for: .login(alice)).name }
        await note("good token") { "\(try await users.validAccessToken(for: .user("bob"))?.name ?? "none")" }
        await note("state") { "\(try await users.sessionState(of: .user("alice")))" }
        await note("phase") { "\(await String(describing: try users.sessionPhase(of: .login(alice))))" }
        await note("diagnosis of a login") { "\(try await vault.diagnosis(of: alice).nextStep)" }
        await note("diagnosis") { "\(try await vault.diagnosis().ownsItsLock)" }
        await note("readiness") {
            try await vault.checkReadiness()
            return "ready"
        }
        await note("status") {
            let status = try await vault.status()
            return "\(status.users) \(status.logins) \(status.providers) \(status.pendingRevocations)"
        }
        await note("survey") {
            let groups = try await vault.survey().groups.filter { $0.provider == "acme" }
            return groups.map { "\($0.logins) \($0.established)" }.joined()
        }
        await note("outbox") {
            try await vault.pendingRevocations().entries.compactMap { entry in
                if case .pending(let revocation) = entry, revocation.provider == "acme" {
                    revocation.token.rawValue
                } else {
                    nil
                }
            }.joined(separator: ",")
        }
        await note("key slots") { "\(try await vault.keySlots().count)" }
        await note("past events") { "\(try await vault.pastEvents(login: alice, userId: nil, limit: 10).count)" }
        await note("replies") { "\(try await vault.unusableReplies(of: alice).count)" }
    }

    mutating func changes(
        _ vault: Vault, _ users: UserManager, _ logins: [String: LoginID], begun: AuthorizationRequest
    ) async {
        guard let alice = logins["alice"], let bob = logins["bob"], let carol = logins["carol"] else { return }
        await note("add a provider") {
            try await vault.addProvider(Sample.provider(name: "new")).name
        }
        await note("update a provider") {
            var change = ProviderChange()
            change.scope = try .set(Scope("other"))
            return "\(try await vault.changeProvider(named: "acme", change).changes.map(\.field))"
        }
        await note("remove a provider") {
            try await vault.removeProvider(named: "idle")
            return "removed"
        }
        await note("complete a log-in") {
            let callback = "https://app.example/callback?code=CANARY-code&state=\(begun.state)"
            return try await users.completeLogIn(.url(callback), boundTo: begun.binding).login.userId
        }
        await note("begin a log-in") {
            String(try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme")).url.prefix(24))
        }
        await note("add a login") {
            try await users.addLogin(
                userId: "fred", provider: "acme", accessToken: Sample.accessToken("f"), expiresAt: nil,
                refreshToken: Sample.refreshToken("f")
            ).userId
        }
        await note("renew") { try await users.accessToken(for: .login(alice), .renewed).name }
        await note("set a token") {
            let login = try await users.updateAccessToken(
                for: .login(bob), accessToken: Sample.accessToken("set"), expiresAt: nil)
            return login.userId
        }
        await note("report a token") {
            try await users.reportRejected(try await users.accessToken(for: .login(alice)))
            return try await users.accessToken(for: .login(alice)).name
        }
        await note("recover") {
            _ = try await users.recover()
            return "recovered"
        }
        await note("retry revocations") {
            let report = try await users.retryRevocations(.all)
            return "\(report.results.count { $0.outcome == .revoked } >= 1)"
        }
        await note("log out") { "\(try await users.logOut(.login(bob)).results.map(\.outcome))" }
        await note("remove a login") {
            try await users.logOut(.login(carol), revokes: false)
            return "removed"
        }
        await note("disable a user") { "\(try await users.disableUser("dora").results.map(\.outcome))" }
        await note("enable a user") {
            try await users.enableUser("dora")
            return "enabled"
        }
        await note("erase a user") { "\(try await users.eraseUser("dora").isComplete)" }
        await note("erase another") { "\(try await users.eraseUser("alice").isComplete)" }
        await note("users at the end") {
            try await vault.userPage().entries.compactMap { entry in
                if case .user(let user) = entry, user.id != "victim" { user.id } else { nil }
            }.sorted().joined(separator: ",")
        }
    }
}
