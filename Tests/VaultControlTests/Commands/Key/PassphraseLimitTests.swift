import Testing

@testable import VaultControl

/// How much memory a passphrase may take when a vault is opened.
struct PassphraseLimitTests {
    @Test func aSlotThatTakesMoreIsRefusedUntilTheLimitIsRaised() async throws {
        let harness = try Harness()
        let passphrase = try harness.file("word", "CANARY-word")
        var environment = ["TOKENVAULT_VAULT": harness.vault, "TOKENVAULT_PASSPHRASE_FILE": passphrase]
        #expect(try await harness.run("init", environment: environment).status == 0)
        let refused = try await harness.run(
            "status", "--brief", "--passphrase-memory-limit", "255M", environment: environment)
        #expect(refused.status == 7)
        #expect(refused.error.contains("asks for 256 MiB of memory, but the limit is 255 MiB"), "\(refused.error)")
        #expect(refused.error.contains("raise --passphrase-memory-limit"))
        environment["TOKENVAULT_PASSPHRASE_MEMORY_LIMIT"] = "128M"
        #expect(try await harness.run("status", "--brief", environment: environment).status == 7)
        // The option comes first.
        let opened = try await harness.run(
            "status", "--brief", "--passphrase-memory-limit", "256M", environment: environment)
        #expect(opened.status == 0, "\(opened.error)")
        environment["TOKENVAULT_PASSPHRASE_MEMORY_LIMIT"] = "much"
        let unreadable = try await harness.run("status", "--brief", environment: environment)
        #expect(unreadable.status == 1)
        #expect(unreadable.error.contains("TOKENVAULT_PASSPHRASE_MEMORY_LIMIT is not a size: much"))
    }

    @Test(arguments: [("1K", 1_024), ("256M", 268_435_456), ("2G", 2_147_483_648), ("1024G", 1 << 40), ("0M", 0)])
    func sizesAreRead(_ text: String, _ bytes: Int) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "M", "-1M", "1.5G", "1T", "256", "99999999999999999999G", "1025G", "1 G", "٣M", "256MiB"])
    func whatIsNoSizeIsRefused(_ text: String) {
        #expect(ByteCount(argument: text) == nil)
    }
}
