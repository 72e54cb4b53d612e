import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting

import TokenVault

/// Whatever prints a public value – `print`, `debugPrint`, `dump`, a debugger – shows public names alone.
struct PrintedValueTests {
    private func renderings(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped, "\([value])"]
    }

    /// The labels in a value's mirror and in those of its parts.
    private func labels(_ value: Any, depth: Int = 0) -> Set<String> {
        guard depth < 8 else { return [] }
        return Mirror(reflecting: value).children.reduce(into: []) { labels, child in
            if let label = child.label { labels.insert(label) }
            labels.formUnion(self.labels(child.value, depth: depth + 1))
        }
    }

    /// One of each, from a vault in which there is a tenant, too.
    private func values() async throws -> [Any] {
        let world = try await World()
        let users = world.users
        let tenant = try #require(Tenant("contoso"))
        let scoped = users.scoped(to: tenant)
        let registration = Sample.provider()
        try await world.vault.addProvider(registration, of: tenant)
        world.transport.fallback = .freshTokens()
        let events = users.events()
        let login = try await world.addChain()
        _ = try await scoped.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("2"),
            refreshToken: Sample.refreshToken("2"))
        let request = LogInRequest(userId: "alice", provider: "acme", context: ["CANARY-key": "CANARY-value"])
        let begun = try await users.beginLogIn(request)
        let callback = LogInCallback.url(world.transport.callback(for: begun))
        let done = try await users.completeLogIn(callback, boundTo: begun.binding)
        let token = try await users.accessToken(for: .login(login.id), .renewed)
        var change = ProviderChange()
        change.authentication = .clientSecretBasic(try ClientSecret("CANARY-new-secret"))
        change.scope = .set(try Scope("read"))
        change.redirectURI = .remove
        var parameters = LogInParameters()
        parameters.prompt = "login"
        parameters.extra = [FormParameter("x", "CANARY-parameter")]
        let http = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me?key=CANARY-query")
        var values: [Any] = [
            login, token, begun, done, callback, request, LogInRequest(into: .login(login.id)), registration, change,
            parameters, try await world.vault.provider(named: "acme"), try await users.clientToken(provider: "acme"),
            try await users.authorize(http, for: .login(login.id)), TokenRequest(deadline: .seconds(2)),
            LoginRef.user("alice", provider: "acme"), SessionRef.user("alice"), LoginFilter(userId: "alice"),
            LoginEnd.terminated(.globalBan), VaultLocation.sqlite("/tmp/x"),
            RefreshedAccessToken(accessToken: Sample.accessToken()),
            BackupRetention(days: 3), users, world.vault, tenant,
        ]
        for try await entry in world.vault.logins(where: LoginFilter()) { values.append(entry) }
        values.append(try await world.vault.user("alice"))
        world.transport.enqueue(.error("invalid_grant"))
        do { values.append(try await users.accessToken(for: .login(login.id), .renewed)) } catch {
            values.append(error)
        }
        do { values.append(try await users.accessToken(userId: "alice")) } catch { values.append(error) }
        values.append(try await world.vault.login(login.id))
        for try await event in users.events(after: .start) {
            values.append(event)
            if case .refreshFailed = event.kind { break }
        }
        _ = events
        values.append(try await users.logOut(.login(done.login.id)))
        values.append(try await users.endLogins(where: LoginFilter(userId: "alice"), by: .loggedOut))
        return values
    }

    @Test func aPrintedValueShowsPublicNamesAlone() async throws {
        let values = try await values()
        #expect(Set(values.map { "\(type(of: $0))" }).count >= 26)
        let inside = [
            "VaultStorage", "VaultCrypto", "Optional(", "SecretBytes", "Handle", "TokenTarget", "\u{1D}", "u{1d}",
            Sample.marker, "Content", "Choice", "Subject",
        ]
        for value in values {
            for text in renderings(value) {
                for word in inside where text.contains(word) {
                    Issue.record("\(type(of: value)) shows \(word.debugDescription): \(text)")
                }
                // The word alone: the random id of a login may contain these three letters.
                let words = text.split { !$0.isLetter && !$0.isNumber }
                #expect(!words.contains("nil"), "\(type(of: value)): \(text)")
            }
        }
    }

    @Test func aMirrorHasPublicLabelsAlone() async throws {
        let hidden: Set<String> = [
            "handle", "target", "scopeText", "expirySource", "hiddenSubject", "obtainedAt", "notBefore", "isInDoubt",
            "hold",
            "lastRefusal", "isRefused", "resourceTokens", "origin", "choice", "subject", "content", "key", "dpopKey",
            "issuerIsRequired", "mostDeaths", "engine", "mark", "sequence", "remnants", "settled", "unsupported",
            "presented",
            "users", "cameAfterDoubt", "clientSecretCount", "management", "means", "answerer", "context", "text",
        ]
        for value in try await values() {
            let found = labels(value).intersection(hidden)
            #expect(found.isEmpty, "\(type(of: value)): \(found.sorted())")
        }
    }

    @Test func theTextsAreReadable() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let token = try await world.users.accessToken(userId: "alice")
        #expect(
            "\(token)"
                == "VaultToken(accessToken: <redacted>, tokenType: Bearer, expiresAt: 2027-01-15 09:00:00 +0000, "
                + "login: \(login.id), generation: 1, isVolatile: false)")
        #expect("\(LoginRef.user("a\nb"))" == #"LoginRef(userId: "a\nb")"#)
        #expect("\(LoginRef.user("\u{1D}contoso\u{1D}alice"))" == #"LoginRef(userId: "contoso/alice")"#)
        #expect("\(TokenRequest())" == "TokenRequest(renewsNow: false)")
        #expect("\(LogInCallback.url("https://app.example/?code=x"))" == "LogInCallback")
        #expect("\(try await world.vault.user("alice"))".hasPrefix(#"User(id: "alice", isEnabled: true, logins: ["#))
        try await world.kill(login)
        let failure = try #require(try await world.vault.login(login.id).failure)
        #expect(
            "\(SessionEvent.Kind.refreshFailed(failure))".contains("RefreshFailure(reason: deadGrant, date: 2027-01-15")
        )
        #expect("\(world.users)" == "UserManager")
    }
}
