import ArgumentParser

/// A command that works on a vault.
protocol VaultCommand: ParsableCommand {
    var global: GlobalOptions { get }

    func run(_ invocation: Invocation) async throws
}
