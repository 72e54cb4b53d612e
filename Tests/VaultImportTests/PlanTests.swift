import Foundation
import OAuthClient
import TestSupport
import Testing

@testable import VaultImport

struct PlanTests {
    @Test func theMapNamesProvidersAndTheirClients() async throws {
        let rules = ["acme": ProviderMap.Rule(name: "acme-eu", clientID: try ClientID("ours"))]
        let text = line() + line(#""client_id":"ours","subject":"2""#) + line(#""client_id":"theirs","subject":"3""#)
        let found = try await outcomes(text, ImportPlan(providers: ProviderMap(rules: rules)))
        #expect(found.map(\.words) == ["login", "login", "rejected: otherClient"])
        #expect(found.first?.login?.provider == "acme-eu")
    }

    @Test func unmappedProviderKeepsItsNameUnlessRulesAreStrict() async throws {
        #expect(try await outcomes(line()).first?.login?.provider == "acme")
        let strict = ImportPlan(providers: ProviderMap(requiresRule: true))
        #expect(try await outcomes(line(), strict).map(\.words) == ["rejected: unmappedProvider"])
    }

    @Test func boundTokenNeedsItsKeyUnlessConfidential() async throws {
        let bound = line(#""token_type":"DPoP","refresh_token":"r""#)
        #expect(try await outcomes(bound).map(\.words) == ["rejected: keyMissing"])
        let rules = ["acme": ProviderMap.Rule(name: "acme", isConfidential: true)]
        let plan = ImportPlan(providers: ProviderMap(rules: rules))
        let found = try await outcomes(bound, plan)
        #expect(found.map(\.words) == ["login"])
        #expect(found.first?.login?.warnings.contains(.keyLost) == true)
        // Without a refresh token there is nothing that a new key could renew.
        #expect(try await outcomes(line(#""token_type":"DPoP""#), plan).map(\.words) == ["rejected: keyMissing"])
    }

    @Test func whatCanNeitherBeUsedNorRenewedIsDead() async throws {
        let text =
            line(#""expires_at":1799999999"#) + line(#""expires_at":1799999999,"refresh_token":"r""#)
            + line(#""expires_at":1799999999,"refresh_token":"r2","refresh_expires_at":1800000000"#) + line()
        let found = try await outcomes(text)
        #expect(found.map(\.words) == ["dead", "login", "dead", "login"])
        #expect(found[1].login?.isRenewable == true)
        #expect(found[2].login?.isRenewable == false)
        guard case .dead(_, let isKept) = found[0] else { return }
        #expect(!isKept)
        let kept = try await outcomes(text, ImportPlan(keepsDeadLogins: true))
        guard case .dead(_, true) = kept[0] else {
            Issue.record("not kept")
            return
        }
    }

    @Test func whatIsAroundATokenIsNoticed() async throws {
        let scheme = try await outcomes(
            line(#""refresh_token":"Bearer a""#) + line(#""refresh_token":"DPoP r""#)
                + line(#""refresh_token":"Authorization: Bearer r""#) + line(#""refresh_token":"bearer-of-news""#))
        let rejected = "rejected: tokenWithScheme"
        #expect(scheme.map(\.words) == [rejected, rejected, rejected, "login"])
        // RFC 6749 allows these, so that an export of such a token comes back.
        let odd = try await outcomes(
            line(##""refresh_token":"\"r\"""##) + line(#""refresh_token":" s""#) + line(#""refresh_token":"t ""#)
                + line(#""refresh_token":"u v""#))
        #expect(odd.map { $0.login?.warnings } == [[.tokenWithOddEnds], [.tokenWithOddEnds], [.tokenWithOddEnds], []])
    }

    @Test func aLifetimeWithoutItsMomentIsUnknown() async throws {
        let found = try await outcomes(line(#""expires_in":60"#) + line(#""expires_in":60,"obtained_at":1800000000"#))
        #expect(found[0].login?.source.expiresAt == nil)
        #expect(found[0].login?.warnings == [.lifetimeWithoutStart])
        #expect(found[1].login?.source.expiresAt == now.addingTimeInterval(60))
    }

    @Test func namesOfTheMapThatNoRowHasAreFound() async throws {
        let map = ProviderMap(rules: ["acme": .init(name: "acme"), "gogle": .init(name: "google")])
        let source = try ImportSource(bytes: Array(line().utf8), plan: ImportPlan(providers: map))
        var reading = ImportReading(source, now: now).makeAsyncIterator()
        while try await reading.next() != nil {}
        #expect(reading.summary.unusedRules.contains("gogle"))
    }

    @Test func unknownMembersAreNamedOnceOrRejected() async throws {
        let text = line(#""wheels":4"#) + line(#""wheels":5,"doors":2"#)
        var reading = ImportReading(try ImportSource(bytes: Array(text.utf8)), now: now).makeAsyncIterator()
        while try await reading.next() != nil {}
        #expect(reading.summary.unknownMembers == ["wheels", "doors"])
        let strict = try await outcomes(text + line(), ImportPlan(isStrict: true))
        #expect(strict.map(\.words) == ["rejected: unknownMember", "rejected: unknownMember", "login"])
    }

    @Test func twoRowsOfOneChainAreOneLogin() async throws {
        let text =
            line(#""refresh_token":"r","obtained_at":1700000100"#)
            + line(#""refresh_token":"r","obtained_at":1700000050,"expires_at":1900000000"#)
            + line(#""refresh_token":"r","obtained_at":1700000200,"expires_at":1900000001"#)
            + line(#""refresh_token":"other""#)
        let found = try await outcomes(text)
        #expect(found.map(\.words) == ["login", "duplicate", "update", "login"])
        guard case .update(let login, let row) = found[2], case .duplicate(_, let first) = found[1] else { return }
        #expect(row == 1 && first == 1)
        #expect(login.source.place.row == 3)
    }

    /// A token that lives for a shorter time may be the newer one.
    @Test func expiriesSayNothingAboutWhichIsNewer() async throws {
        let text =
            line(#""refresh_token":"r","expires_at":1900000100"#)
            + line(#""refresh_token":"r","expires_at":1900000050"#)
            + line(#""refresh_token":"r","expires_at":1900000050"#)
        #expect(try await outcomes(text).map(\.words) == ["login", "update", "duplicate"])
    }

    @Test func theSameChainOfAnotherUserIsRejected() async throws {
        let text =
            line(#""refresh_token":"r""#)
            + #"{"user":"bob","provider":"acme","refresh_token":"r"}"# + "\n"
            + line(#""refresh_token":"r","subject":"s""#)
        #expect(
            try await outcomes(text).map(\.words) == [
                "login", "rejected: duplicateChain", "rejected: duplicateChain",
            ])
    }

    @Test func twoRowsOfOneAccountAreOneLogin() async throws {
        func account(_ token: String, _ client: String, _ user: String = "alice") -> String {
            #"{"user":"\#(user)","provider":"acme","subject":"s","client_id":"\#(client)","refresh_token":"\#(token)"}"#
                + "\n"
        }
        let found = try await outcomes(
            account("r1", "a") + account("r2", "a") + account("r3", "b") + account("r4", "a", "bob"))
        #expect(found.map(\.words) == ["login", "update", "login", "login"])
    }

    @Test func theUserIsTheColumnThatThePlanNames() async throws {
        let sample = try SampleDatabase(
            SampleDatabase.accounts, SampleDatabase.account(1), SampleDatabase.account(2),
            "CREATE TABLE users (id TEXT, name TEXT, email TEXT, crm TEXT)",
            "INSERT INTO users VALUES ('u1', 'Ann', 'ann@example.com', 'C1')")
        func users(_ key: UserKey) async throws -> [String?] {
            try await outcomes(ImportSource(path: sample.path, plan: ImportPlan(userKey: key))).map {
                $0.login?.source.userKey ?? $0.words
            }
        }
        #expect(try await users(.primaryKey) == ["u1", "rejected: ownerMissing"])
        #expect(try await users(.email) == ["ann@example.com", "rejected: ownerMissing"])
        #expect(try await users(.username) == ["Ann", "rejected: ownerMissing"])
        #expect(try await users(.column("crm")) == ["C1", "rejected: ownerMissing"])
    }

    @Test func moreChainsThanTheIndexBeginsWith() async throws {
        var text = ""
        for number in 0..<3_000 { text += line("\"refresh_token\":\"r\(number % 2_000)\"") }
        let found = try await outcomes(text)
        #expect(found.count { $0.name == "login" } == 2_000)
        #expect(found.count { $0.name == "duplicate" } == 1_000)
        guard case .duplicate(_, let row) = found[2_999] else {
            Issue.record("no duplicate")
            return
        }
        #expect(row == 1_000)
    }
}
