import EngineSupport
import Foundation
import TokenVault
import Testing
import VaultAdministration

@testable import VaultControl

struct VersionCommandTests {
    @Test func itNamesWhatItIsBuiltOnAndNeedsNoVault() async throws {
        let text = try await Harness().run("version", environment: [:])
        #expect(text.status == 0)
        #expect(text.output.hasPrefix("vaultctl\t\(TokenVaultVersion.current)\ncommit\t"))
        #expect(text.output.contains("\nSQLite\t\(Vault.sqliteVersion)\n"))
        #expect(text.output.contains("\nschema\t\(Vault.schemaVersions.upperBound); migrates from 1\n"))
        let document = try await Harness().run("version", "--json", environment: [:]).json
        #expect(document["version"] as? String == TokenVaultVersion.current)
        // Tests are built without one.
        #expect(document["commit"] is NSNull)
        #expect(document["oldestSchemaVersion"] as? Int == 1)
        #expect(document["schemaVersion"] as? Int == Vault.schemaVersions.upperBound)
        for name in ["swiftVersion", "sqliteVersion", "libsodiumVersion"] {
            let version = try #require(document[name] as? String)
            #expect(version.wholeMatch(of: /[0-9]+(\.[0-9]+)+.*/) != nil, "\(name): \(version)")
        }
        #expect((document["platform"] as? String)?.hasPrefix("Linux ") == true)
    }

    @Test(.aboutFiles("the version that is named is that of a file"))
    func aVaultWithTheNewestSchemaHasTheVersionThatIsNamed() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let status = try await harness.run("status", "--brief", "--json").json
        let version = try await harness.run("version", "--json").json
        #expect(status["schemaVersion"] as? Int == version["schemaVersion"] as? Int)
    }
}
