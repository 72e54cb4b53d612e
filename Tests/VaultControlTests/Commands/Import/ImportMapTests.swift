import Foundation
import OAuthClient
import Testing
import VaultControl
import VaultImport

/// `--map` says which column of a table is which member.
@Suite struct ImportMapTests {
    private static let map = "user=owner_id,access_token=tok,refresh_token=rt,subject=uid"

    private static func sources(_ bench: ImportBench) throws -> [String] {
        [
            try bench.file("a.csv", "owner_id,provider,uid,tok,rt\n7,acme,s7,A-7,R-7\n"),
            try bench.file(
                "a.jsonl", #"{"owner_id":7,"provider":"acme","uid":"s7","tok":"A-7","rt":"R-7"}"# + "\n"),
            try bench.database(
                "a.sqlite3", "CREATE TABLE users (id INTEGER, email TEXT)",
                "CREATE TABLE identities (id INTEGER, owner_id INTEGER, provider TEXT, uid TEXT, tok TEXT, rt TEXT)",
                "INSERT INTO identities VALUES (1, 7, 'acme', 's7', 'A-7', 'R-7')"),
            try bench.file(
                "a.sql",
                "COPY public.identities (id, owner_id, provider, uid, tok, rt) FROM stdin;\n"
                    + "1\t7\tacme\ts7\tA-7\tR-7\n\\.\n"),
        ]
    }

    @Test func aMapNamesTheColumnOfEachMember() async throws {
        for index in 0..<4 {
            try await ImportBench.with { bench in
                let source = try Self.sources(bench)[index]
                #expect(try await bench.run(source, "--map", Self.map) == ["added": 1], "\(source)")
                let login = try await bench.logins()["7"]
                #expect(login?.accessToken?.reveal() == "A-7" && login?.refreshToken?.reveal() == "R-7", "\(source)")
                #expect(login?.subject == "s7")
            }
        }
    }

    @Test func aMapTheWrongWayRoundIsExplained() async throws {
        try await ImportBench.with { bench in
            let source = try Self.sources(bench)[0]
            let (code, text) = try await bench.failure(source, "--map", "owner_id=user,tok=access_token")
            #expect(code == "usage" && text.contains("owner_id") && text.contains("MEMBER=COLUMN"))
            #expect(text.contains("access_token"))
            // One member, two columns.
            #expect(try await bench.failure(source, "--map", "user=owner_id,user=uid").text.contains("MEMBER=COLUMN"))
        }
    }

    @Test func columnsThatAreNotThereAreNamed() async throws {
        try await ImportBench.with { bench in
            for source in try Self.sources(bench) {
                let (code, text) = try await bench.failure(source, "--map", "user=owner,access_token=tok")
                #expect(code == "unfitPlan", "\(source): \(text)")
                #expect(text.contains("“owner”") && text.contains("owner_id"), "\(text)")
            }
            let csv = try Self.sources(bench)[0]
            // All of it is there, and it is no login.
            let lacking = try await bench.failure(csv, "--map", "user=owner_id")
            #expect(lacking.code == "unfitPlan" && lacking.text.contains("access_token or refresh_token"))
            // A login without the refresh token that was meant to be there is none.
            let partial = try await bench.failure(csv, "--map", Self.map + ",id_token=idt")
            #expect(partial.code == "unfitPlan" && partial.text.contains("“idt”"))
        }
    }

    @Test func aMapReachesIntoDocuments() async throws {
        try await ImportBench.with(["github"]) { bench in
            let token =
                #"{"access_token":"A-1","refresh_token":"R-1","more":{"id":"x"},"accessTokenExpiration":2200000000}"#
            let source = try bench.database(
                "keycloak.sqlite3",
                "CREATE TABLE FEDERATED_IDENTITY (IDENTITY_PROVIDER TEXT, REALM_ID TEXT, FEDERATED_USER_ID TEXT, "
                    + "FEDERATED_USERNAME TEXT, TOKEN TEXT, USER_ID TEXT)",
                "INSERT INTO FEDERATED_IDENTITY VALUES ('github', 'r', 'f1', 'n', '\(token)', 'u1')",
                "INSERT INTO FEDERATED_IDENTITY VALUES ('github', 'r', 'f2', 'n', NULL, 'u2')",
                "INSERT INTO FEDERATED_IDENTITY VALUES ('github', 'r', 'f3', 'n', 'no JSON', 'u3')")
            // What is known of the table says how.
            let (code, text) = try await bench.failure(source)
            #expect(code == "unknownStore" && text.contains("Keycloak") && text.contains("TOKEN.access_token"))
            let map =
                "user=USER_ID,provider=IDENTITY_PROVIDER,subject=FEDERATED_USER_ID,access_token=TOKEN.access_token,"
                + "refresh_token=TOKEN.refresh_token,expires_at=TOKEN.accessTokenExpiration,label=TOKEN.more.id"
            let counts = try await bench.run(source, "--map", map, "--table", "FEDERATED_IDENTITY")
            #expect(counts == ["added": 1, "noToken": 1, "malformedValue": 1])
            let login = try await bench.logins()["u1"]
            #expect(login?.accessToken?.reveal() == "A-1" && login?.refreshToken?.reveal() == "R-1")
            #expect(login?.subject == "f1" && login?.label == "x")
            #expect(login?.expiresAt?.timeIntervalSince1970 == 2_200_000_000)
        }
    }

    @Test func aSourceWithoutProvidersGetsOneByName() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "socialite.sqlite3", "CREATE TABLE users (id INTEGER, email TEXT, github_token TEXT, rt TEXT)",
                "INSERT INTO users VALUES (3, 'a@example.com', 'A-3', 'R-3')",
                "INSERT INTO users VALUES (4, 'b@example.com', NULL, NULL)")
            let counts = try await bench.run(
                source, "--map", "user=id,access_token=github_token,refresh_token=rt", "--provider-name", "acme")
            #expect(counts == ["added": 1, "noToken": 1])
            #expect(try await bench.logins()["3"]?.refreshToken?.reveal() == "R-3")
        }
    }

    /// The given provider is of no effect where the source names another.
    @Test func aRowThatNamesAnotherProviderIsReported() async throws {
        try await ImportBench.with { bench in
            let source = try bench.harness.file(
                "named.jsonl",
                #"{"user":"u1","provider":"acme","access_token":"A-1","expires_in":60}"# + "\n"
                    + #"{"user":"u2","access_token":"A-2","expires_in":60}"# + "\n", mode: 0o600)
            let run = try await bench.harness.run("import", "run", source, "--provider-name", "nosuch", "--dry-run")
            let words = "warning\t1: the row names another provider than the one given for rows that name none"
            #expect(run.output.contains(words), "\(run.output)\(run.error)")
        }
    }

    @Test func aTableThatMayHoldLoginsGetsAMapProposed() async throws {
        try await ImportBench.with { bench in
            let source = try bench.database(
                "devise.sqlite3",
                "CREATE TABLE identities (id INTEGER, user_id INTEGER, provider TEXT, uid TEXT, token TEXT)",
                "INSERT INTO identities VALUES (1, 5, 'acme', 's5', 'A-5')")
            let (code, text) = try await bench.failure(source)
            #expect(code == "unknownStore")
            let map = "user=user_id,provider=provider,subject=uid,access_token=token"
            #expect(text.contains("--table identities --map \(map)"), "\(text)")
            #expect(try await bench.run(source, "--table", "identities", "--map", map) == ["added": 1])
        }
    }

    @Test func aMapAndAKindExcludeEachOther() async throws {
        try await ImportBench.with { bench in
            let source = try Self.sources(bench)[0]
            #expect(try await bench.failure(source, "--kind", "authjs", "--map", Self.map).code == "unfitPlan")
            #expect(try await bench.run(source, "--kind", "canonical", "--map", Self.map) == ["added": 1])
        }
    }
}
