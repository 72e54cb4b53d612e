import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultStorage

@testable import TokenVault

/// Two tenants with the same names see nothing of each other.
@Suite(.tags(.everyEngine))
struct TenantTests {
    /// One tenant of the vault, as a service works with it.
    private struct View {
        let tenant: Tenant
        let users: UserManager

        var vault: Vault { users.vault }
    }

    private func tenant(_ name: String, _ world: World) throws -> View {
        let tenant = try #require(Tenant(name))
        return View(tenant: tenant, users: world.users.scoped(to: tenant))
    }

    @discardableResult
    private func add(
        _ user: String, _ name: String, _ view: View, _ world: World, provider: String? = "acme"
    ) async throws -> Login {
        try await view.users.addLogin(
            userId: user, provider: provider, accessToken: Sample.accessToken(name),
            expiresAt: world.now.addingTimeInterval(3_600),
            refreshToken: provider == nil ? nil : Sample.refreshToken(name))
    }

    /// Two tenants, and users of no tenant, all with a user alice at a provider acme.
    private func scene() async throws -> (World, one: View, two: View, [String: Login]) {
        let world = try await World()
        let (one, two) = (try tenant("one", world), try tenant("two", world))
        var logins = ["": try await world.addChain(name: "root")]
        for view in [one, two] {
            try await view.vault.addProvider(Sample.provider(), of: view.tenant)
            logins[view.tenant.name] = try await add("alice", view.tenant.name, view, world)
        }
        return (world, one, two, logins)
    }

    private func ids(_ view: View, _ filter: LoginFilter = LoginFilter()) async throws -> [LoginID] {
        var ids: [LoginID] = []
        var filter = filter
        filter.tenant = view.tenant
        for try await entry in view.vault.logins(where: filter) { ids.append(entry.id) }
        return ids
    }

    @Test func theSameNamesAreOthersInEachTenant() async throws {
        let (world, one, two, logins) = try await scene()
        #expect(try await world.users.accessToken(userId: "alice").name == "root")
        for view in [one, two] {
            let own = try #require(logins[view.tenant.name])
            #expect(own.userId == "alice" && own.provider == "acme")
            #expect(try await view.users.accessToken(userId: "alice").name == view.tenant.name)
            #expect(
                try await view.users.accessToken(for: .user("alice", provider: "acme")).login == own.id)
            #expect(try await ids(view) == [own.id])
            #expect(try await ids(view, LoginFilter(userId: "alice", provider: "acme")) == [own.id])
            #expect(try await view.vault.login(own.id, of: view.tenant) == own)
            #expect(try await view.vault.user("alice", of: view.tenant).logins == [own.id])
            var found = [User]()
            for try await user in view.vault.users(of: view.tenant) { found.append(user) }
            #expect(try await found == [view.vault.user("alice", of: view.tenant)])
            #expect(try await view.vault.providers(of: view.tenant).map(\.name) == ["acme"])
            #expect(try await view.users.sessionState(of: .user("alice")) == .established)
        }
        // The whole vault shows all of them, each under a name of its own.
        let users = try await world.vault.userPage().entries.compactMap { entry in
            if case .user(let user) = entry { user.id } else { nil }
        }
        #expect(Set(users) == ["alice", "\u{1D}one\u{1D}alice", "\u{1D}two\u{1D}alice"])
        #expect(try await world.vault.providerEntries().count == 3)
        let summaries = try await world.vault.tenants()
        #expect(summaries.map(\.tenant.name) == ["one", "two"])
        #expect(summaries.allSatisfy { $0.users == 1 && $0.logins == 1 && $0.providers == 1 })
        #expect(try await world.vault.verify().isClean)
    }

    /// Whatever names a login: a stranger's is told like one that there is not.
    @Test func noIdOfAnotherTenantIsOfUse() async throws {
        let (world, one, two, logins) = try await scene()
        let users = one.users
        for foreign in [try #require(logins["two"]?.id), try #require(logins[""]?.id)] {
            let ref = LoginRef.login(foreign)
            #expect(await code { try await users.accessToken(for: ref) } == .unknownLogin)
            #expect(await code { try await users.validAccessToken(for: ref) } == .unknownLogin)
            #expect(
                await code { try await users.updateAccessToken(for: ref, accessToken: Sample.accessToken("x")) }
                    == .unknownLogin)
            #expect(await code { try await users.logOut(ref) } == .unknownLogin)
            #expect(await code { try await users.logOut(ref, revokes: false) } == .unknownLogin)
            #expect(await code { try await users.terminate(ref, reason: .globalBan) } == .unknownLogin)
            #expect(await code { try await users.revive(ref) } == .unknownLogin)
            #expect(await code { try await users.setLabel("x", of: ref) } == .unknownLogin)
            #expect(await code { try await users.setMetadata(["a": "b"], of: ref) } == .unknownLogin)
            #expect(await code { try await users.sessionPhase(of: ref) } == .unknownLogin)
            #expect(await code { try await one.users.beginLogIn(LogInRequest(into: .login(foreign))) } == .unknownLogin)
            #expect(await code { try await one.vault.login(foreign, of: one.tenant) } == .unknownLogin)
        }
        for text in ["\u{1D}two\u{1D}alice", "two\u{1D}alice", "\u{1D}alice"] {
            #expect(await code { try await one.users.accessToken(userId: text) } == .unknownUser)
            #expect(await code { try await one.vault.user(text, of: one.tenant) } == .unknownUser)
            #expect(await code { try await one.users.eraseUser(text) } == .unknownUser)
        }
        #expect(
            await code { try await one.vault.provider(named: "\u{1D}two\u{1D}acme", of: one.tenant) }
                == .unknownProvider)
        #expect(try await two.users.accessToken(userId: "alice").name == "two")
        #expect(try await world.users.accessToken(userId: "alice").name == "root")
    }

    /// Of no tenant is who has a plain name: what looks like a tenant's is refused.
    @Test func aPlainNameCannotBeOneOfATenant() async throws {
        let (world, one, _, _) = try await scene()
        let name = "\u{1D}one\u{1D}alice"
        let users = world.users
        #expect(await code { try await users.accessToken(userId: name) } == .invalidArgument)
        #expect(await code { try await users.accessToken(for: .user(name)) } == .invalidArgument)
        #expect(
            await code { try await users.addLogin(userId: name, accessToken: Sample.accessToken()) } == .invalidArgument
        )
        #expect(
            await code { try await users.beginLogIn(LogInRequest(userId: name, provider: "acme")) } == .invalidArgument)
        #expect(await code { try await users.eraseUser(name) } == .invalidArgument)
        #expect(await code { try await users.disableUser(name) } == .invalidArgument)
        #expect(await code { try await users.enableUser(name) } == .invalidArgument)
        #expect(await code { try await world.vault.user(name) } == .invalidArgument)
        #expect(await code { try await world.vault.logins(ofUser: name) } == .invalidArgument)
        #expect(await code { try await users.sessionState(of: .user(name)) } == .invalidArgument)
        var registration = Sample.provider()
        registration.name = "\u{1D}one\u{1D}b"
        let planted = registration
        #expect(await code { try await world.vault.addProvider(planted) } == .invalidArgument)
        #expect(try await world.vault.storedEvents(after: .start, of: .user(name)).events.isEmpty)
        // Nor are a user and a provider of two tenants brought together.
        #expect(
            await code { try await users.beginLogIn(LogInRequest(userId: "alice", provider: "\u{1D}one\u{1D}acme")) }
                == .unknownProvider)
        #expect(
            await code { try await one.users.beginLogIn(LogInRequest(userId: "alice", provider: "other")) }
                == .unknownProvider)
    }

    @Test func aLogInIsCompletedInItsTenantAlone() async throws {
        let (world, one, two, _) = try await scene()
        let begun = try await one.users.beginLogIn(LogInRequest(userId: "bob", provider: "acme", label: "work"))
        let callback = LogInCallback.url("?code=CANARY-code&state=\(begun.state)")
        #expect(
            await code { try await two.users.completeLogIn(callback, boundTo: begun.binding) }
                == .unknownAuthorizationRequest
        )
        #expect(
            await code { try await one.users.completeLogIn(callback, boundTo: begun.binding, expectedUserId: "alice") }
                == .logInNotBound)
        world.transport.enqueue(.generation("bob"))
        let done = try await one.users.completeLogIn(callback, boundTo: begun.binding, expectedUserId: "bob")
        #expect(done.login.userId == "bob" && done.login.provider == "acme" && done.login.label == "work")
        #expect(done.tenant == one.tenant)
        #expect(try await one.users.accessToken(userId: "bob").name == "bob")
        #expect(await code { try await two.users.accessToken(userId: "bob") } == .unknownUser)
        // Renewals know nothing of tenants.
        world.expire()
        world.transport.enqueue(.generation("bob-2"))
        #expect(try await one.users.accessToken(userId: "bob").name == "bob-2")
    }

    /// With one redirect URI the callback names no tenant: the session that it comes in does.
    @Test func oneManagerCompletesTheLogInsOfAllTenants() async throws {
        let (world, one, two, _) = try await scene()
        let users = world.users
        func begin(_ users: UserManager) async throws -> (callback: LogInCallback, binding: BrowserBinding) {
            let begun = try await users.beginLogIn(LogInRequest(userId: "bob", provider: "acme"))
            return (.url("?code=CANARY-code&state=\(begun.state)"), begun.binding)
        }
        let (callback, binding) = try await begin(one.users)
        let strangers: [(String?, Tenant?)] = [
            ("bob", nil), ("bob", two.tenant), ("alice", one.tenant), (nil, two.tenant),
        ]
        for (user, tenant) in strangers {
            let code = await code {
                try await users.completeLogIn(callback, boundTo: binding, expectedUserId: user, of: tenant)
            }
            #expect(code == .logInNotBound, "\(user ?? "any") of \(tenant?.name ?? "none")")
        }
        world.transport.enqueue(.generation("bob"))
        let done = try await users.completeLogIn(
            callback, boundTo: binding, expectedUserId: "bob", of: one.tenant)
        #expect(done.tenant == one.tenant)
        #expect(try await users.scoped(to: try #require(done.tenant)).accessToken(userId: "bob").name == "bob")
        // Nobody is expected: then whose it was is said afterwards.
        for (manager, tenant) in [(two.users, two.tenant), (users, nil)] {
            let next = try await begin(manager)
            world.transport.enqueue(.generation("next"))
            let done = try await users.completeLogIn(next.callback, boundTo: next.binding)
            #expect(done.tenant == tenant)
            #expect(try await world.vault.login(done.login.id, of: tenant).userId == "bob")
        }
    }

    @Test func eventsAreThoseOfTheTenant() async throws {
        let (world, one, two, logins) = try await scene()
        try await world.kill(try #require(logins["one"]))
        let own = try await world.vault.storedEvents(after: .start, in: TenantScope(tenant: one.tenant)).events
        #expect(own.contains { if case .refreshFailed = $0.kind { true } else { false } })
        #expect(own.allSatisfy { $0.login == logins["one"]?.id && $0.userId == "alice" })
        let others = try await world.vault.storedEvents(after: .start, in: TenantScope(tenant: two.tenant)).events
        #expect(others.allSatisfy { $0.login == logins["two"]?.id && $0.userId == "alice" })
        let all = try await world.vault.storedEvents(after: .start).events
        #expect(Set(all.map { $0.tenant?.name ?? "" }) == ["", "one", "two"])
        #expect(all.allSatisfy { $0.userId == "alice" })
        #expect(own.allSatisfy { $0.tenant == one.tenant })
    }

    @Test func aScopedManagerHearsOfItsTenantAlone() async throws {
        let (world, one, two, logins) = try await scene()
        let (own, foreign) = (try #require(logins["one"]), try #require(logins["two"]))
        var all = one.users.events().makeAsyncIterator()
        var states = one.users.sessionStates(of: .user("alice")).makeAsyncIterator()
        #expect(await states.next(isolation: nil) == .established)
        var foreignStates = one.users.sessionStates(of: .login(foreign.id)).makeAsyncIterator()
        #expect(await foreignStates.next(isolation: nil) == .notLoggedIn)
        #expect(await foreignStates.next(isolation: nil) == nil)
        try await world.kill(foreign)
        try await world.kill(own)
        let event = try #require(await all.next(isolation: nil))
        #expect(event.login == own.id && event.userId == "alice")
        guard case .tokenExpired(_?) = await states.next(isolation: nil) else {
            Issue.record("the state of the own login did not change")
            return
        }
        var later = two.users.events(after: .start).makeAsyncIterator()
        let first = try #require(try await later.next())
        #expect(first.login == foreign.id && first.userId == "alice")
    }

    @Test func aScopedManagerEndsLoginsOfItsTenantAlone() async throws {
        let (world, one, two, _) = try await scene()
        world.transport.fallback = .status(.ok)
        #expect(
            await code { try await one.users.endLogins(where: LoginFilter(), by: .loggedOut) } == .invalidArgument)
        let report = try await one.users.endLogins(where: LoginFilter(provider: "acme"), by: .loggedOut)
        #expect(report.ended == 1)
        #expect(try await ids(one).isEmpty)
        #expect(try await two.users.accessToken(userId: "alice").name == "two")
        #expect(try await world.users.accessToken(userId: "alice").name == "root")
    }

    @Test func aNameOfATenantIsReadBack() {
        #expect(Tenant.of("\u{1D}acme\u{1D}a\u{1D}b")?.tenant.name == "acme")
        #expect(Tenant.of("\u{1D}acme\u{1D}a\u{1D}b")?.userId == "a\u{1D}b")
        for plain in ["alice", "", "\u{1D}", "\u{1D}acme", "\u{1D}\u{1D}x", "\u{1D}ac me\u{1D}x"] {
            #expect(Tenant.of(plain) == nil)
        }
        for name in ["", "a b", "ä", "a/b", "a\u{1D}", String(repeating: "a", count: 65)] {
            #expect(Tenant(name) == nil)
        }
        #expect(Tenant("Contoso.eu-1_x") != Tenant("contoso.eu-1_x"))
    }

    @Test func anErasedTenantLeavesTheOthersAsTheyWere() async throws {
        let (world, one, two, _) = try await scene()
        for user in ["bob", "carol"] {
            try await add(user, "one-\(user)", one, world)
            try await add(user, "two-\(user)", two, world)
        }
        let before = try await rows(two)
        world.transport.fallback = .status(.ok)
        let erasure = try await world.users.erase(one.tenant)
        #expect(erasure.users == 3 && erasure.incomplete == 0 && erasure.isComplete)
        #expect(try await world.vault.tenants().map(\.tenant.name) == ["two"])
        #expect(try await one.vault.providers(of: one.tenant).isEmpty)
        #expect(try await ids(one).isEmpty)
        #expect(await code { try await one.users.accessToken(userId: "bob") } == .unknownUser)
        #expect(try await rows(two) == before)
        #expect(try await two.users.accessToken(userId: "bob").name == "two-bob")
        #expect(try await world.users.accessToken(userId: "alice").name == "root")
        #expect(try await world.vault.verify().isClean)
        #expect(try await world.users.erase(one.tenant) == TenantErasure())
    }

    @Test func aProviderStaysWhileRevocationsWaitForIt() async throws {
        let (world, one, _, _) = try await scene()
        world.transport.fallback = .status(.serviceUnavailable)
        let erasure = try await world.users.erase(one.tenant)
        #expect(erasure.users == 1 && erasure.incomplete == 1 && erasure.remainingProviders == ["acme"])
        world.transport.fallback = .status(.ok)
        world.time.advance(by: .seconds(86_400))
        _ = try await world.users.retryRevocations()
        #expect(try await world.users.erase(one.tenant).isComplete)
        #expect(try await world.vault.tenants().map(\.tenant.name) == ["two"])
    }

    /// What the vault has of a tenant: who, and which tokens, as they would be sent.
    private func rows(_ view: View) async throws -> [String] {
        var rows: [String] = []
        for try await case .login(let login) in view.vault.logins(where: LoginFilter(of: view.tenant)) {
            let stored = try await view.vault.store.login(login.id.handle)
            rows.append(
                "\(login) \(stored.session.accessToken?.string() ?? "") \(stored.refresh?.refreshToken?.string() ?? "")"
            )
        }
        return rows
    }

    /// Random deeds of tenants with the same user ids, against what each should then have.
    @Test(arguments: 1...6)
    func eachSeesWhatItDidAndNothingElse(seed: UInt64) async throws {
        let world = try await World()
        world.transport.fallback = .status(.ok)
        var random = SeededGenerator(seed: seed)
        let views = [try tenant("a", world), try tenant("b", world), try tenant("A", world)]
        for view in views { try await view.vault.addProvider(Sample.provider(), of: view.tenant) }
        var expected = [[String: Set<String>]](repeating: [:], count: views.count)
        var logins = [[LoginID]](repeating: [], count: views.count)
        for step in 0..<60 {
            let number = Int.random(in: 0..<views.count, using: &random)
            let (view, user) = (
                views[number], ["alice", "bob", "\u{1D}a\u{1D}alice"].randomElement(using: &random) ?? ""
            )
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                logins[number].append(try await add(user, "\(number)-\(step)", view, world).id)
                expected[number][user, default: []].insert("\(number)-\(step)")
            case 5, 6:
                guard let id = logins[number].randomElement(using: &random) else { continue }
                let login = try await view.vault.login(id, of: view.tenant)
                let name = try await view.users.accessToken(for: .login(id)).name
                try await view.users.logOut(.login(id), revokes: false)
                logins[number].removeAll { $0 == id }
                expected[number][login.userId]?.remove(name)
            case 7:
                let isKnown = expected[number][user] != nil
                let gone = isKnown ? try await view.vault.user(user, of: view.tenant).logins : []
                #expect(await code { try await view.users.eraseUser(user) } == (isKnown ? nil : .unknownUser))
                expected[number][user] = nil
                logins[number].removeAll { gone.contains($0) }
            case 8:
                let other = views[(number + 1) % views.count]
                guard let id = logins[number].randomElement(using: &random) else { continue }
                #expect(await code { try await other.users.logOut(.login(id)) } == .unknownLogin)
            default:
                guard step > 40 else { continue }
                _ = try await world.users.erase(view.tenant)
                try await view.vault.addProvider(Sample.provider(), of: view.tenant)
                (expected[number], logins[number]) = ([:], [])
            }
        }
        for (number, view) in views.enumerated() {
            var found: [String: Set<String>] = [:]
            for try await user in view.vault.users(of: view.tenant) { found[user.id] = [] }
            for try await case .login(let login) in view.vault.logins(where: LoginFilter(of: view.tenant)) {
                let token = try await view.users.accessToken(for: .login(login.id))
                found[login.userId, default: []].insert(token.name)
            }
            #expect(found == expected[number])
        }
        #expect(try await world.vault.verify().isClean)
    }
}

extension LoginFilter {
    /// All logins of a tenant.
    fileprivate init(of tenant: Tenant) {
        self.init()
        self.tenant = tenant
    }
}
