import Foundation
import OAuthClient
import TestSupport
import Testing

@testable import VaultImport

/// Tokens leave the importer through `reveal()` alone.
struct SecretTests {
    private static let marker = "canary-4711"

    @Test func noRenderingShowsATokenOrAUser() async throws {
        let text =
            "{\"user\":\"\(Self.marker)\",\"provider\":\"acme\",\"access_token\":\"\(Self.marker)\",\"refresh_token\":\"\(Self.marker)\",\"attributes\":{\"a\":\"\(Self.marker)\"},\"label\":\"\(Self.marker)\"}\n{\"user\":\"\(Self.marker)\",\"\(Self.marker)\n"
        let source = try ImportSource(bytes: Array(text.utf8))
        var rows: [SourceRow] = []
        for try await row in source { rows.append(row) }
        for row in rows {
            var dumped = ""
            dump(row, to: &dumped)
            #expect(!"\(row) \(String(reflecting: row)) \(dumped)".contains(Self.marker))
        }
        #expect(rows.count == 2)
    }

    @Test func aReportHasNoTokenAndNoUserUnlessAsked() async throws {
        let text =
            "{\"user\":\"user-\(Self.marker)\",\"provider\":\"acme\",\"refresh_token\":\"token-\(Self.marker)\",\"id\":\"key-\(Self.marker)\"}\n"
        let reading = ImportReading(try ImportSource(bytes: Array(text.utf8)), now: now)
        var lines: [String] = []
        _ = try await ImportReport().run(reading) { lines.append($0) }
        #expect(!lines.joined().contains(Self.marker))
        lines = []
        _ = try await ImportReport(showsUsers: true).run(reading) { lines.append($0) }
        #expect(lines.joined().contains("user-\(Self.marker)") && !lines.joined().contains("token-"))
    }

    @Test func theSumsOfAReportAreTheRowsThatWereRead() async throws {
        let text =
            line(#""refresh_token":"r""#) + "nonsense\n" + line(#""refresh_token":"r""#) + line(#""expires_at":1"#)
            + line(#""error":"invalid_grant""#)
        let reading = ImportReading(try ImportSource(bytes: Array(text.utf8)), now: now)
        var lines: [String] = []
        let summary = try await ImportReport().run(reading) { lines.append($0) }
        #expect(summary.rows == 5 && lines.count == 6)
        #expect(summary.outcomes.values.reduce(0, +) == 5)
        #expect(summary.reasons.values.reduce(0, +) == summary.outcomes["rejected"])
        for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        #expect(lines[1] == #"{"row":2,"outcome":"rejected","reason":"notJSON"}"#)
        #expect(
            lines[5]
                == #"{"rows":5,"outcomes":{"dead":1,"duplicate":1,"login":1,"part":0,"registration":0,"rejected":2,"update":0},"reasons":{"errorAnswer":1,"notJSON":1},"warnings":{},"providers":{"acme":1}}"#
        )
    }

    /// Made with PyNaCl, by the construction of better-auth's `rawEncrypt`.
    @Test(arguments: ["$ba$2$", ""])
    func aTokenOfBetterAuthOpensWithItsSecret(_ prefix: String) {
        let sealed =
            "3f08aace122ee2368432c1ca23a049bc640bafbf00fdf33a4cbe9d402fb0a7f91ccf745f5b4a564e8cade76f202575"
        let secret = SourceSecret("a secret of the site")
        let secrets = SourceSecrets(betterAuth: [2: secret], betterAuthUnversioned: secret)
        #expect(BetterAuthCipher(secrets).read(prefix + sealed) == .opened("token-1"))
        let other = SourceSecret("another one")
        let wrong = SourceSecrets(betterAuth: [2: other], betterAuthUnversioned: other)
        #expect(BetterAuthCipher(wrong).read(prefix + sealed) == .notDecryptable)
        #expect(BetterAuthCipher(SourceSecrets()).read("$ba$7$" + sealed) == .keyNeeded(version: 7))
        #expect(BetterAuthCipher(secrets).read("ya29.a0Ab") == .plain)
        #expect(BetterAuthCipher(secrets).read("abcdef0123") == .plain)
    }

    /// Made with Python's cryptography, by the construction of Nango's `encryptSync`.
    @Test func credentialsOfNangoOpenWithItsKey() async throws {
        let row =
            #"{"id":1,"connection_id":"c","provider_config_key":"crm","credentials":{"encrypted_credentials":"PCCiYrWA4CGvDtbe5aFKT6/05leTHiwPZxOK7ngHIogjZMGXyq8/qVaIXZ/t4VpdnTE/+TW9xrQdrQhtd4iQgN0O5Ac="},"credentials_iv":"AAECAwQFBgcICQoL","credentials_tag":"cVc/nSIx3tFdxYyHKbSfGg=="}"#
        var plan = ImportPlan()
        plan.secrets.nango = SourceSecret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let login = try #require(try await outcomes(row, plan).first?.login?.source)
        #expect(login.accessToken?.reveal() == "token-1")
        #expect(login.refreshToken?.reveal() == "token-2")
        let missing = await #expect(throws: ImportError.self) { try await outcomes(row) }
        #expect(missing?.code == .secretNeeded)
        plan.secrets.nango = SourceSecret("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let wrong = await #expect(throws: ImportError.self) { try await outcomes(row, plan) }
        #expect(wrong?.code == .wrongSecret)
        plan.secrets.nango = SourceSecret("short")
        let malformed = await #expect(throws: ImportError.self) { try await outcomes(row, plan) }
        #expect(malformed?.code == .unfitPlan)
    }

    @Test func wrongSecretStopsTheImportADamagedRowDoesNot() async throws {
        let sealed =
            "$ba$2$3f08aace122ee2368432c1ca23a049bc640bafbf00fdf33a4cbe9d402fb0a7f91ccf745f5b4a564e8cade76f202575"
        func row(_ token: String) -> String {
            "{\"userId\":\"u\",\"providerId\":\"p\",\"accountId\":\"\(token.count)\",\"accessToken\":\"\(token)\",\"refreshToken\":null}\n"
        }
        var plan = ImportPlan()
        plan.secrets.betterAuth = [2: SourceSecret("a secret of the site")]
        let found = try await outcomes(row(sealed) + row(sealed + "00"), plan)
        #expect(found.map(\.words) == ["login", "rejected: notDecryptable"])
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(row(sealed + "00") + row(sealed), plan)
        }
        #expect(error?.code == .wrongSecret)
    }
}
