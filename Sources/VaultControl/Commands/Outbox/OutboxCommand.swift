import ArgumentParser
import TokenVault

struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Revocations that providers have not confirmed yet.",
        subcommands: [OutboxListCommand.self, OutboxRetryCommand.self])
}

/// What is said of revocations that no provider can confirm.
enum OutboxWords {
    /// - Parameter count: How many revocations are of providers that were removed.
    static func unsendable(_ count: Int) -> String {
        "\(Count.of(count, "revocation")) cannot be sent, because the provider was removed: "
            + "\(count == 1 ? "it is" : "they are") given up after 30 days"
    }
}

extension RevocationReport.Outcome {
    var isOfRemovedProvider: Bool {
        if case .pending(let error) = self { error.code == .unknownProvider } else { false }
    }
}
