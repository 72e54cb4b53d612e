import EngineSupport
import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import VaultImport

/// What readings of a source do to a vault.
@Suite(.tags(.everyEngine))
struct ImportRunTests {
    @Test func aLoginBelongsToItsSourceAndIsServedButNotRenewed() async throws {
        let scene = try await ImportScene()
        let (rows, result) = try await scene.run(SampleRow().text)
        #expect(rows.map(\.outcome) == [.added])
        #expect(result[.added] == 1 && result.rows == 1 && !result.isQuiet)
        let login = try await scene.login()
        #expect(login.origin?.owner == .source && login.origin?.source == "web")
        #expect(login.subject == "s1" && login.isRefreshable)
        #expect(try await scene.users.accessToken(userId: "u1").accessToken.reveal() == "a1")
        scene.time.advance(by: .seconds(3_601))
        scene.transport.fallback = .freshTokens()
        #expect(await code { try await scene.users.accessToken(userId: "u1") } == .heldBySource)
        #expect(await code { try await scene.users.updateAccessToken(userId: "u1") } == .heldBySource)
        try await scene.users.recover()
        _ = try await RenewalScheduler(scene.users).runOnce()
        let due = try await scene.vault.store.dueLogins(
            before: scene.vault.now.advanced(by: .seconds(86_400 * 365)), after: nil, limit: 10)
        #expect(due.logins.isEmpty)
        #expect(scene.transport.requestCount == 0)
        #expect(try await scene.vault.verify().isClean)
    }

    @Test func aSecondReadingChangesNothing() async throws {
        let scene = try await ImportScene()
        let text = (1...700).map { number in
            SampleRow(user: "u\(number % 400)", subject: "s\(number)", access: "a\(number)", refresh: "r\(number)").text
        }.joined()
        let first = try await scene.run(text).result
        #expect(first[.added] == 700)
        let head = try await scene.vault.auditHead()
        let second = try await scene.run(text).result
        #expect(second[.unchanged] == 700 && second.isQuiet && second.missing == 0)
        // The reading itself is on record, and nothing else.
        #expect(try await scene.vault.auditHead() == head + 1)
        #expect(try await scene.vault.status().logins == 700)
    }

    @Test func aSourceThatRenewsIsFollowed() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        let id = try await scene.login().id
        // It lives for a shorter time than the one before.
        let next = SampleRow(access: "a2", refresh: "r2", expires: 1_800, more: #""obtained_at":1800000000"#)
        let (rows, result) = try await scene.run(next.text)
        #expect(rows.map(\.outcome) == [.followed] && rows.first?.login == id)
        #expect(!result.isQuiet)
        #expect(try await scene.users.accessToken(userId: "u1").accessToken.reveal() == "a2")
        #expect(try await scene.login().generation == 2)
        // A copy of the source from before is not taken for news.
        let copy = try await scene.run(SampleRow(more: #""obtained_at":1799999000"#).text)
        #expect(copy.rows.map(\.outcome) == [.older] && !copy.result.isQuiet)
        #expect(try await scene.users.accessToken(userId: "u1").accessToken.reveal() == "a2")
    }

    /// An adoption of its tokens would send a spent one.
    @Test func anOlderCopyContestsNoAcceptedLogin() async throws {
        let scene = try await ImportScene()
        let text = SampleRow(more: #""obtained_at":1800000000"#).text
        try await scene.run(text)
        try await scene.prove(text)
        try await scene.vault.acceptImport(from: "web")
        let copy = SampleRow(access: "a0", refresh: "r0", more: #""obtained_at":1799999000"#).text
        for purpose in [ImportRunOptions.Purpose.hold, .take, .check, .adopt] {
            #expect(try await scene.run(copy, purpose).rows.map(\.outcome) == [.older], "\(purpose)")
            #expect(try await scene.login().origin?.owner == .vault)
        }
    }

    /// A second login with spent tokens would end the grant of the first.
    @Test func anOldCopyUnderAnotherNameAddsNothing() async throws {
        let scene = try await ImportScene()
        let text = SampleRow(subject: nil, expires: -10).text
        try await scene.run(text, .take)
        scene.transport.fallback = .freshTokens()
        _ = try await scene.users.accessToken(userId: "u1")
        for purpose in [ImportRunOptions.Purpose.hold, .take] {
            let rows = try await scene.run(text, purpose, name: "wbe").rows
            #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)], "\(purpose)")
        }
        // Once it has left for another system, its own former name is such a name, too.
        let (login, now) = (try await scene.login(), scene.vault.now)
        _ = try await scene.vault.store.updateLogin(login.id.handle) { $0.returnToSource("export", now: now) }
        #expect(try await scene.run(text).rows.map(\.outcome) == [.rejected(.alreadyThere)])
        #expect(scene.transport.requestCount == 1)
    }

    /// No row of the system to which it was exported has named it yet, and the tokens there are newer by now.
    @Test(arguments: ["id", "account", "tokens"])
    func anExportedLoginIsTakenBackWithItsNewerTokens(_ knownBy: String) async throws {
        let scene = try await ImportScene()
        let row = SampleRow(subject: knownBy == "account" ? "s1" : nil)
        try await scene.run(row.text, .take)
        let (login, now) = (try await scene.login(), scene.vault.now)
        _ = try await scene.vault.store.updateLogin(login.id.handle) { $0.returnToSource("crm", now: now) }
        let there = row.with { $0.more = knownBy == "id" ? #""id":"\#(login.id)""# : #""id":"17""# }
        if knownBy == "tokens" {
            #expect(try await scene.run(there.text, name: "crm").rows.map(\.outcome) == [.unchanged])
        }
        let renewed = there.with { ($0.access, $0.refresh) = ("a2", "r2") }.text
        let (rows, result) = try await scene.run(renewed, name: "crm")
        #expect(rows.map(\.outcome) == [.followed] && rows.first?.login == login.id)
        #expect(result[.added] == 0)
        #expect(try await scene.run(renewed, name: "crm").rows.map(\.outcome) == [.unchanged])
        #expect(try await scene.login().origin?.isMissing == false)
        #expect(try await scene.vault.acceptImport(from: "crm", proof: .init(pause: nil)).count == 1)
        // Another account is another login.
        let other = SampleRow(user: "u1", subject: "s2", access: "b1", refresh: "q1", more: #""id":"18""#)
        #expect(try await scene.run(other.text, name: "crm").rows.map(\.outcome) == [.added])
    }

    @Test func aLoginWithANewRefreshTokenIsTheVaultsOwn() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        let held = try await scene.login()
        let updated = try await scene.users.updateAccessToken(
            for: .login(held.id), accessToken: Sample.accessToken("new"), refreshToken: Sample.refreshToken("new"))
        #expect(held.origin != nil && updated.origin == nil)
        #expect(try await scene.login() == updated)
    }

    /// Two logins would follow one chain, and the renewal of the second would end the grant.
    @Test func aRenewedRowUnderAnotherNameAddsNothing() async throws {
        let scene = try await ImportScene()
        let row = SampleRow(subject: nil, more: #""id":"17""#)
        let other = SampleRow(user: "u2", subject: nil, access: "b1", refresh: "q1", more: #""id":"18""#)
        // Without a key, its user and its provider are its name.
        let nameless = SampleRow(user: "u3", subject: nil, access: "c1", refresh: "p1")
        try await scene.run(row.text + other.text + nameless.text)
        let (login, namelessLogin) = (try await scene.login().id, try await scene.login("u3").id)
        let (renewed, renewedNameless) = (
            row.with { ($0.access, $0.refresh) = ("a2", "r2") }.text,
            nameless.with { ($0.access, $0.refresh) = ("c2", "p2") }.text
        )
        for purpose in [ImportRunOptions.Purpose.hold, .take, .check, .adopt, .compare] {
            let rows = try await scene.run(renewed + other.text, purpose, name: "wbe").rows
            #expect(rows.map(\.outcome) == [.rejected(.alreadyThere), .rejected(.alreadyThere)], "\(purpose)")
            #expect(rows.first?.login == login, "\(purpose)")
        }
        let rows = try await scene.run(renewedNameless, name: "wbe").rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)] && rows.first?.login == namelessLogin)

        let followed = try await scene.run(renewed + other.text + renewedNameless).rows
        #expect(followed.map(\.outcome) == [.followed, .unchanged, .followed])
        #expect(try await scene.vault.acceptImport(from: "web", proof: .init(pause: nil)).count == 3)
        #expect(try await scene.vault.acceptImport(from: "wbe", proof: .init(pause: nil)).count == 0)
        scene.transport.fallback = .freshTokens()
        _ = try await scene.users.updateAccessToken(userId: "u1")
        #expect(scene.transport.requests.map { $0.form["refresh_token"] } == ["r2"])
        #expect(try await scene.vault.verify().isClean)
    }

    /// - Parameter isFirst: Whether the vault finds the other login before the row's own.
    @Test(arguments: [true, false])
    func noLoginTakesARefreshTokenThatAnotherHas(_ isFirst: Bool) async throws {
        let scene = try await ImportScene()
        func addOther() async throws -> LoginID {
            try await scene.users.addLogin(userId: "u1", provider: "acme", refreshToken: RefreshToken("r2")).id
        }
        func addOwn() async throws -> LoginID {
            let added = try await scene.run(SampleRow().text).rows.first
            #expect(added?.outcome == .added)
            return try #require(added?.login)
        }
        let early = isFirst ? try await addOther() : nil
        let own = try await addOwn()
        let other = if let early { early } else { try await addOther() }
        let renewed = SampleRow(access: "a2", refresh: "r2").text
        var rows = try await scene.run(renewed).rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)] && rows.first?.login == other)
        #expect(try await scene.vault.login(own).generation == 1)

        // A contested login does not adopt it, and stays held.
        try await scene.vault.acceptImport(from: "web", proof: .init(pause: nil))
        #expect(try await scene.run(renewed, .check).rows.map(\.outcome) == [.renewedBySource])
        rows = try await scene.run(renewed, .adopt).rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)] && rows.first?.login == other)
        #expect(try await scene.vault.login(own).origin?.owner == .contested)

        // Without the other login, nothing keeps the token out.
        try await scene.users.logOut(.login(other), revokes: false)
        #expect(try await scene.run(renewed, .adopt).rows.map(\.outcome) == [.followed])
        #expect(try await scene.vault.verify().isClean)
    }

    /// A token that another login came with is spent by now.
    @Test func noLoginTakesARefreshTokenThatAnotherHasSpent() async throws {
        let scene = try await ImportScene()
        let row = SampleRow(subject: nil, more: #""id":"17""#)
        let own = try #require(try await scene.run(row.text).rows.first?.login)
        let chain = row.with { ($0.access, $0.refresh) = ("a2", "r2") }
        let taken = try await scene.run(chain.with { $0.more = #""id":"99""# }.text, .take, name: "shop").rows
        #expect(taken.map(\.outcome) == [.added])
        let other = try #require(taken.first?.login)
        scene.transport.fallback = .freshTokens()
        _ = try await scene.users.accessToken(for: .login(other), .renewed)
        let rows = try await scene.run(chain.text).rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)] && rows.first?.login == other)
        #expect(try await scene.vault.login(own).generation == 1)
    }

    /// Vaults from before that was refused may have a row twice.
    @Test func aRowFindsItsOwnLoginBehindAnother() async throws {
        let scene = try await ImportScene()
        let row = SampleRow(subject: nil, more: #""id":"17""#)
        let twin = row.with { ($0.access, $0.refresh, $0.more) = ("b1", "q1", #""id":"18""#) }
        let first = try #require(try await scene.run(row.text).rows.first?.login)
        let other = try #require(try await scene.run(twin.text, name: "shop").rows.first?.login)
        let name = try #require(try await scene.vault.store.login(first.handle).session.origin?.row)
        _ = try await scene.vault.store.updateLogin(other.handle) { $0.session.origin?.row = name }
        let renewed = row.with { ($0.access, $0.refresh) = ("b2", "q2") }.text
        let rows = try await scene.run(renewed, name: "shop").rows
        #expect(rows.map(\.outcome) == [.followed] && rows.first?.login == other)
    }

    @Test func rowGoneFromTheSourceIsMissingUntilItReturns() async throws {
        let scene = try await ImportScene()
        let (one, other) = (SampleRow(), SampleRow(user: "u2", subject: "s2", access: "a2", refresh: "r2"))
        try await scene.run(one.text + other.text)
        #expect(try await scene.run(one.text).result.missing == 1)
        #expect(try await scene.login("u2").origin?.isMissing == true)
        #expect(try await scene.run(one.text).result.missing == 0)
        try await scene.prove(one.text)
        let acceptance = try await scene.vault.acceptImport(from: "web")
        #expect(acceptance.count == 1 && acceptance.skipped == 1)
        #expect(try await scene.run(one.text + other.text).result[.followed] == 1)
        #expect(try await scene.login("u2").origin?.isMissing == false)
    }

    @Test func aRehearsalSaysTheSameAndChangesNothing() async throws {
        let scene = try await ImportScene()
        let text =
            SampleRow().text + SampleRow(user: "u2", subject: "s2", provider: "nobody").text
            + SampleRow(access: "a2", refresh: "r1", expires: 7_200).text + "not JSON\n"
        let head = try await scene.vault.auditHead()
        let rehearsal = try await scene.run(text, isRehearsal: true).result
        #expect(try await scene.vault.auditHead() == head)
        #expect(try await scene.vault.status().logins == 0)
        let real = try await scene.run(text).result
        #expect(rehearsal.outcomes == real.outcomes && rehearsal.reasons == real.reasons)
        #expect(real.outcomes.values.reduce(0, +) == real.rows && real.rows == 4)
        #expect(real[.added] == 1 && real[.followed] == 1)
        #expect(real.reasons == [.unknownProvider: 1, .notJSON: 1])
    }

    @Test func whatIsNotSurelyAnotherLoginIsRejected() async throws {
        let scene = try await ImportScene()
        let nameless = SampleRow(subject: nil)
        // Nothing tells the second from the first but its tokens.
        var rows = try await scene.run(nameless.text + nameless.with { ($0.access, $0.refresh) = ("a2", "r2") }.text)
            .rows
        #expect(rows.map(\.outcome) == [.added, .rejected(.ambiguousRow)])
        // The same refresh token under another user.
        let (one, other) = (
            SampleRow(user: "u2", subject: "s2", refresh: "r5"), SampleRow(user: "u3", subject: "s3", refresh: "r5")
        )
        rows = try await scene.run(one.text + other.text, name: "web2").rows
        #expect(rows.map(\.outcome) == [.added, .rejected(.duplicateChain)])
        // The account is in the vault from elsewhere.
        rows = try await scene.run(one.text, name: "another").rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)])
        _ = try await scene.users.addLogin(
            userId: "u4", provider: "acme", accessToken: AccessToken("x"), refreshToken: RefreshToken("r4"))
        let copy = SampleRow(user: "u4", subject: "s4", refresh: "r4").text
        rows = try await scene.run(copy, name: "web3").rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)])
        // Renewed since, so that the row is an old copy.
        scene.transport.fallback = .freshTokens()
        _ = try await scene.users.updateAccessToken(userId: "u4")
        rows = try await scene.run(copy, name: "web4").rows
        #expect(rows.map(\.outcome) == [.rejected(.alreadyThere)])
    }

    @Test func rowsThatTheVaultDoesNotTakeStopNoOther() async throws {
        let scene = try await ImportScene()
        _ = try await scene.users.addLogin(userId: "off", provider: "acme", refreshToken: RefreshToken("r0"))
        try await scene.users.disableUser("off")
        let other = SampleRow(user: "u5", subject: "s5", refresh: "r5", more: #""client_id":"theirs""#)
        let text =
            SampleRow(user: "off", subject: "s0").text + other.text
            + SampleRow(user: "u6", subject: "s6", refresh: "r6").text
        let rows = try await scene.run(text).rows
        #expect(rows.map(\.outcome) == [.rejected(.userDisabled), .rejected(.otherClient), .added])
    }

    @Test func aSourceThatIsGoneGivesItsLoginsAtOnce() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow(expires: -10).text, .take)
        scene.transport.fallback = .freshTokens()
        #expect(try await scene.login().origin?.owner == .vault)
        _ = try await scene.users.accessToken(userId: "u1")
        #expect(scene.transport.requestCount == 1)
        #expect(scene.transport.requests.first?.form["refresh_token"] == "r1")
        // The vault's own renewal is nothing new in the source.
        for purpose in [ImportRunOptions.Purpose.take, .check, .compare] {
            let rows = try await scene.run(SampleRow(expires: -10).text, purpose).rows
            #expect(rows.map(\.outcome) == [.unchanged], "\(purpose)")
        }
    }

    @Test func acceptanceNeedsTwoQuietReadingsApart() async throws {
        let scene = try await ImportScene()
        let text = SampleRow(expires: -10).text
        func refusal() async -> VaultError.Code? { await code { try await scene.vault.acceptImport(from: "web") } }
        #expect(await refusal() == .sourceNotQuiet)
        try await scene.run(text)
        #expect(await refusal() == .sourceNotQuiet)
        try await scene.run(text)
        scene.time.advance(by: .seconds(59))
        try await scene.run(text)
        #expect(await refusal() == .sourceNotQuiet)
        scene.time.advance(by: .seconds(60))
        // What the rehearsal finds is no proof.
        try await scene.run(text, isRehearsal: true)
        #expect(await refusal() == .sourceNotQuiet)
        try await scene.run(text)
        let acceptance = try await scene.vault.acceptImport(from: "web")
        #expect(acceptance.count == 1)
        #expect(try await scene.login().origin?.owner == .vault)
        #expect(try await scene.vault.acceptImport(from: "web").count == 0)
        scene.transport.fallback = .freshTokens()
        _ = try await RenewalScheduler(scene.users).runOnce()
        #expect(scene.transport.requestCount == 1)
        #expect(try await scene.vault.verify().isClean)
    }

    @Test func fewMinutesSayNothingOfAnHour() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        for (minutes, access, rate) in [(1, "a2", nil), (3, "a3", nil), (56, "a4", 3.0)] as [(Int, String, Double?)] {
            scene.time.advance(by: .seconds(60 * minutes))
            try await scene.run(SampleRow(access: access).text)
            let status = try await scene.vault.importStatus()
            #expect(status.map(\.changesPerHour) == [rate] && status.map(\.changes) == [1], "\(minutes)")
        }
    }

    @Test func acceptanceGoesByProviderLimitAndRate() async throws {
        let scene = try await ImportScene()
        try await scene.vault.addProvider(Sample.provider(name: "other"))
        let text = (1...150).map { number in
            SampleRow(
                user: "u\(number)", subject: "s\(number)", access: "a\(number)", refresh: "r\(number)", expires: -5,
                provider: number > 100 ? "other" : "acme"
            ).text
        }.joined()
        try await scene.run(text)
        try await scene.prove(text)
        #expect(try await scene.vault.acceptImport(from: "web", provider: "acme", limit: 3).count == 3)
        #expect(try await scene.vault.acceptImport(from: "nowhere", proof: .init(pause: nil)).count == 0)
        let rest = try await scene.vault.acceptImport(from: "web", provider: "acme", rate: 2)
        #expect(rest.count == 97 && rest.logins.count == 97)
        let status = try await scene.vault.importStatus()
        #expect(status.map(\.provider) == ["acme", "other"])
        #expect(status.map(\.held) == [0, 50] && status.map(\.accepted) == [100, 0])
        // Two a second, and the three that had no rate.
        let due = try await scene.vault.store.dueLogins(
            before: scene.vault.now.advanced(by: .seconds(10)), after: nil, limit: 1_000
        ).logins.count
        #expect(due == 3 + 21)
    }

    @Test(arguments: [ImportRunOptions.Purpose.hold, .check])
    func sourceRenewingAfterAcceptanceHoldsTheLogin(_ purpose: ImportRunOptions.Purpose) async throws {
        let scene = try await ImportScene()
        let text = SampleRow().text
        try await scene.run(text)
        try await scene.prove(text)
        try await scene.vault.acceptImport(from: "web")
        #expect(try await scene.run(text, .check).rows.map(\.outcome) == [.unchanged])
        let later = SampleRow(access: "a2", refresh: "r2", expires: 7_200).text
        for purpose in [ImportRunOptions.Purpose.compare, purpose, .check] {
            #expect(try await scene.run(later, purpose).rows.map(\.outcome) == [.renewedBySource])
            let isComparison = purpose == .compare
            #expect(try await scene.login().origin?.owner == (isComparison ? .vault : .contested))
        }
        scene.time.advance(by: .seconds(4_000))
        scene.transport.fallback = .freshTokens()
        #expect(await code { try await scene.users.accessToken(userId: "u1") } == .heldBySource)
        #expect(scene.transport.requestCount == 0)
        #expect(try await scene.run(later, .adopt).rows.map(\.outcome) == [.followed])
        _ = try await scene.users.updateAccessToken(userId: "u1")
        #expect(scene.transport.requests.map { $0.form["refresh_token"] } == ["r2"])
        #expect(try await scene.vault.verify().isClean)
    }

    @Test func loginDeadOnArrivalTakesTheSourcesNewerTokens() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow(expires: -10).text, .take)
        scene.transport.fallback = .error("invalid_grant")
        #expect(await code { try await scene.users.accessToken(userId: "u1") } == .refreshFailed)
        let newer = SampleRow(access: "a2", refresh: "r2", expires: 3_000).text
        #expect(try await scene.run(newer, .check).rows.map(\.outcome) == [.renewedBySource])
        #expect(try await scene.login().failure != nil)
        #expect(try await scene.run(newer, .adopt).rows.map(\.outcome) == [.followed])
        #expect(try await scene.users.accessToken(userId: "u1").accessToken.reveal() == "a2")
        #expect(try await scene.login().failure == nil)
    }

    @Test func aComparisonChangesNothing() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        let head = try await scene.vault.auditHead()
        let text =
            SampleRow().text + SampleRow(user: "u2", subject: "s2", refresh: "r2").text
        #expect(try await scene.run(text, .compare).rows.map(\.outcome) == [.unchanged, .absent])
        let other = SampleRow(access: "a9").text
        #expect(try await scene.run(other, .compare).rows.map(\.outcome) == [.older])
        #expect(try await scene.vault.auditHead() == head)
    }

    @Test func endingALoginOfASourceSendsNothing() async throws {
        let scene = try await ImportScene()
        scene.transport.fallback = .status(.ok)
        try await scene.run(SampleRow().text + SampleRow(user: "u2", subject: "s2", refresh: "r2").text)
        let login = try await scene.login()
        #expect(try await scene.users.logOut(.login(login.id)).results.map(\.outcome) == [.ownedBySource])
        #expect(try await scene.users.eraseUser("u2").results.map(\.outcome) == [.ownedBySource])
        #expect(scene.transport.requestCount == 0)
    }

    @Test func anAppsOwnRefreshTokenMakesTheLoginTheVaults() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        try await scene.users.updateAccessToken(
            userId: "u1", accessToken: AccessToken("mine"), expiresAt: nil, refreshToken: RefreshToken("own"))
        #expect(try await scene.login().origin == nil)
        scene.transport.fallback = .freshTokens()
        _ = try await scene.users.updateAccessToken(userId: "u1")
        #expect(scene.transport.requestCount == 1)
    }

    @Test func aRestoreAcceptsNoLoginOfASource() async throws {
        let scene = try await ImportScene()
        try await scene.run(SampleRow().text)
        _ = try await scene.users.addLogin(userId: "own", provider: "acme", refreshToken: RefreshToken("r9"))
        try await scene.vault.store.holdAllLogins(AuditEvent(.witnessReplaced))
        #expect(try await scene.vault.heldLogins(ofProvider: "acme").held == 1)
        #expect(try await scene.vault.acceptRestore(ofProvider: "acme").count == 1)
        #expect(try await scene.login().origin?.owner == .source)
        scene.transport.fallback = .freshTokens()
        scene.time.advance(by: .seconds(3_601))
        #expect(await code { try await scene.users.accessToken(userId: "u1") } == .heldBySource)
        #expect(scene.transport.requestCount == 0)
    }

    @Test func aRunThatIsBrokenOffIsBegunAnew() async throws {
        let scene = try await ImportScene()
        let text = (1...4_800).map { number in
            SampleRow(user: "u\(number)", subject: "s\(number)", access: "a\(number)", refresh: "r\(number)").text
        }.joined()
        let source = try ImportSource(bytes: Array(text.utf8))
        var run = ImportRun(source, into: scene.vault, options: .init(name: "web")).makeAsyncIterator()
        // One row of the first batch is out: the batch is durable, at most one more is under way, and none behind that.
        _ = try await run.next()
        let taken = try await scene.vault.status().logins
        #expect(taken == 1_500 || taken == 3_000)
        let result = try await scene.run(text).result
        #expect(result[.unchanged] >= 1_500 && result[.added] >= 800)
        #expect(result[.unchanged] + result[.added] == 4_800)
        #expect(try await scene.vault.status().logins == 4_800)
    }

    @Test func noSecretIsShown() async throws {
        let scene = try await ImportScene()
        let (rows, result) = try await scene.run(
            SampleRow(user: "CANARY-u", access: "CANARY-a", refresh: "CANARY-r").text)
        var text = ""
        dump(rows, to: &text)
        dump(result, to: &text)
        #expect(!"\(rows)\(result)\(text)".contains("CANARY-"))
    }
}
