import EngineSupport
import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultImport
import VaultStorage

@testable import TokenVault

/// One chain has one owner at each moment.
struct LoginExportTests {
    private let scene: ExportScene

    init() async throws { scene = try await ExportScene() }

    @Test func aLoginIsHeldBeforeItIsWritten() async throws {
        let ids = [try await scene.add("alice"), try await scene.add("bob", "bravo")]
        var sink = ScriptedSink()
        let vault = scene.vault
        sink.look = { login in
            let stored = try await vault.store.login(login.id.handle)
            #expect(stored.isHeld && stored.session.isHeldBySource && stored.dueAt == nil)
        }
        let summary = try await LoginExport(of: vault).run(into: &sink)
        #expect(Set(sink.written) == Set(ids) && sink.isFinished)
        #expect(summary.exported == 2 && summary.heldCount == 2 && summary.providers == ["acme": 1, "bravo": 1])
        for id in ids {
            let kinds = try await scene.auditKinds(of: id)
            #expect(kinds.contains("loginExported"))
        }
    }

    @Test func anExportedLoginSendsNothingAndServesItsToken() async throws {
        let id = try await scene.add("alice")
        _ = try await scene.export()
        let transport = ScriptedTransport()
        let users = try await UserManager(vault: scene.vault, transport: transport, options: .deterministic)
        let token = try await users.accessToken(for: .login(id))
        #expect(token.accessToken.reveal() == Sample.marker + "access-alice")
        scene.time.advance(by: .seconds(3_700))
        let error = await #expect(throws: VaultError.self) { try await users.accessToken(for: .login(id)) }
        #expect(error?.code == .heldBySource)
        #expect(transport.requests.isEmpty)
    }

    @Test func anErrorReportsThatAnAPIRefusedTheHeldToken() async throws {
        let id = try await scene.add("alice")
        _ = try await scene.export()
        let users = try await UserManager(
            vault: scene.vault, transport: ScriptedTransport(), options: .deterministic)
        let token = try await users.accessToken(for: .login(id))
        let rejected = await #expect(throws: VaultError.self) { try await users.reportRejected(token) }
        #expect(rejected?.code == .heldBySource)
        #expect(rejected?.message.hasPrefix("an API refused the access token") == true)
        // The next call says so, too.
        let error = await #expect(throws: VaultError.self) { try await users.accessToken(for: .login(id)) }
        #expect(error?.message == rejected?.message)
    }

    @Test func anExportThatEndsInTheMiddleLeavesHeldLogins() async throws {
        for number in 0..<5 { try await scene.add("user-\(number)") }
        var sink = ScriptedSink()
        sink.room = 2
        do {
            _ = try await LoginExport(of: scene.vault).run(into: &sink)
            Issue.record("it ended well")
        } catch let error as ExportInterruption {
            #expect(error.summary.exported == 2 && error.summary.heldCount == 5 && error.cause is ScriptedSink.Full)
        }
        #expect(!sink.isFinished)
        // Nothing is exported twice by mistake, and everything when it is asked for.
        let refused = try await scene.export().summary
        #expect(refused.exported == 0 && refused.reasons == [.heldBySource: 5])
        let again = try await scene.export(.canonical, .init(repeats: true)).summary
        #expect(again.exported == 5 && again.reasons.isEmpty)
        let other = try await scene.export(.canonical, .init(owner: .other("elsewhere"), repeats: true)).summary
        #expect(other.exported == 0 && other.reasons == [.heldBySource: 5])
    }

    @Test func aCopyChangesNothingButTheTrail() async throws {
        let id = try await scene.add("alice")
        let before = try await scene.stored(id)
        let summary = try await scene.export(.canonical, .init(owner: .vault)).summary
        #expect(summary.exported == 1 && summary.heldCount == 0)
        #expect(try await scene.stored(id) == before)
        let kinds = try await scene.auditKinds(of: id)
        #expect(kinds == ["loginCreated", "loginExported"])
    }

    /// Whose they are cannot be told then. All others leave.
    @Test func loginsOfADamagedProviderStay() async throws {
        let scene = try await ExportScene(in: .disk)
        let ids = [try await scene.add("alice"), try await scene.add("bob", "bravo")]
        try scene.temporary.intruder().flip("provider", "cell", row: 1, atEnd: true)
        let summary = try await scene.export().summary
        #expect(summary.exported == 1 && summary.providers == ["bravo": 1] && summary.reasons == [.damaged: 1])
        #expect(try await !scene.stored(ids[0]).session.isHeldBySource)
        #expect(try await scene.stored(ids[1]).session.isHeldBySource)
    }

    @Test func theOtherSystemHasAName() async throws {
        try await scene.add("alice")
        for name in ["", String(repeating: "n", count: 65)] {
            let error = await #expect(throws: VaultError.self) {
                try await scene.export(.canonical, .init(owner: .other(name)))
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func aPlanChangesNothing() async throws {
        let id = try await scene.add("alice")
        let before = try await scene.stored(id)
        var sink = ScriptedSink()
        let summary = try await LoginExport(of: scene.vault).plan(for: &sink)
        #expect(summary.exported == 1 && summary.heldCount == 0 && sink.written.isEmpty && !sink.isFinished)
        #expect(try await scene.stored(id) == before)
        #expect(try await scene.auditKinds(of: id) == ["loginCreated"])
    }

    @Test func whatIsLeftOutIsToldApart() async throws {
        let soon = scene.now.advanced(by: .seconds(-1))
        let ended = try await scene.add("ended") { $0.session.state = .terminated }
        let expired = try await scene.add("expired") { draft in
            draft.session.expiresAt = soon
            draft.refresh = nil
        }
        let open = try await scene.add("open")
        _ = try await scene.vault.store.updateLogin(open.handle) { $0.openIntent(owner: 1, at: soon) }
        let doubtful = try await scene.add("doubtful") { $0.refresh?.doubtSince = soon }
        let own = try await scene.add("own") { draft in
            draft.provider = nil
            draft.refresh = nil
        }
        let disabled = try await scene.add("disabled")
        _ = try await scene.vault.store.updateUser("disabled") { $0.status = .disabled }
        let contested = try await scene.add("contested") { draft in
            draft.session.origin = ImportOrigin(
                source: "export", row: .zero, tokens: .zero, owner: .contested, takenAt: soon)
        }
        try await scene.vault.store.holdAllLogins(AuditEvent(.witnessReplaced))
        let held = try await scene.add("late")
        try await scene.vault.store.holdAllLogins(AuditEvent(.witnessReplaced))
        let good = try await scene.add("good")
        let summary = try await scene.export(.canonical, .init(repeats: true)).summary
        let reasons = Dictionary(uniqueKeysWithValues: summary.leftOut.map { ($0.login, $0.reason) })
        #expect(reasons[ended] == .dead && reasons[expired] == .dead && reasons[own] == .noProvider)
        #expect(reasons[disabled] == .userDisabled && reasons[contested] == .contested)
        #expect(reasons[held] == .heldByRestore && reasons[good] == nil && summary.exported == 1)
        // A hold comes first: what was open then is dropped by the restore itself.
        #expect(reasons[open] == .heldByRestore && reasons[doubtful] == .heldByRestore)
        #expect(summary.rows == 9)
    }

    @Test func aRenewalThatIsOpenKeepsItsLogin() async throws {
        let open = try await scene.add("open")
        _ = try await scene.vault.store.updateLogin(open.handle) { state in
            state.openIntent(owner: 1, at: Timestamp(milliseconds: 1))
        }
        let doubtful = try await scene.add("doubtful") { $0.refresh?.doubtSince = Timestamp(milliseconds: 1) }
        let summary = try await scene.export().summary
        #expect(Set(summary.leftOut.map(\.login)) == [open, doubtful])
        #expect(summary.reasons == [.renewalOpen: 2])
    }

    /// Between the look at a login and its hold, another process may renew it.
    @Test func aLoginThatHasChangedSinceItWasReadStays() async throws {
        let id = try await scene.add("alice")
        let page = try await scene.vault.loginsToExport(ofUser: nil, provider: nil, after: nil, limit: 10)
        guard case .login(let read)? = page.candidates.first else { throw ScriptedSink.Full() }
        try await scene.vault.store.updateLogin(id.handle) { $0.session.label = "changed" }
        let handed = try await scene.vault.export([read], as: "canonical", to: "export", repeats: false)
        #expect(handed.isEmpty)
        #expect(try await !scene.stored(id).isHeld)
        #expect(try await !scene.auditKinds(of: id).contains("loginExported"))
    }

    @Test func onlyWhatIsNamedIsExported() async throws {
        for user in ["alice", "bob"] {
            for provider in ["acme", "bravo"] { try await scene.add(user, provider) }
        }
        let bravo = try await scene.export(.canonical, .init(provider: "bravo")).summary
        #expect(bravo.exported == 2 && bravo.rows == 2 && bravo.providers == ["bravo": 2])
        let alice = try await scene.export(.canonical, .init(userId: "alice"))
        #expect(alice.summary.exported == 1 && alice.summary.reasons == [.heldBySource: 1])
        #expect(alice.text.contains(#""user":"alice","provider":"acme""#))
        await #expect(throws: VaultError.self) { try await scene.export(.canonical, .init(provider: "none")) }
    }

    @Test func manyPagesAreExported() async throws {
        for number in 0..<200 { try await scene.add("user-\(number % 150)") }
        let (text, summary) = try await scene.export()
        #expect(summary.exported == 200 && text.split(separator: "\n").count == 200)
    }

    @Test func noRenderingShowsATokenOrAUser() async throws {
        try await scene.add(Sample.marker + "user") { draft in
            draft.key = KeyRecord(dpopPrivateKey: SecretBytes(copying: DPoPKey.generate().revealRawRepresentation()))
        }
        let page = try await scene.vault.loginsToExport(ofUser: nil, provider: nil, after: nil, limit: 10)
        guard case .login(let read)? = page.candidates.first else { throw ScriptedSink.Full() }
        let login = try #require(ExportedLogin(read))
        let summary = try await scene.export().summary
        for value in [read, login, page, summary] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value) \(String(reflecting: value)) \(dumped)".contains(Sample.marker))
        }
    }
}
