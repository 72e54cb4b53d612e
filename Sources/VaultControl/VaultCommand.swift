import ArgumentParser

/// A command that works on a vault.
protocol VaultCommand: ParsableCommand {
    func run(_ invocation: Invocation) async throws
}
