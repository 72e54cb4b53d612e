import ArgumentParser

/// A command that prints a result.
protocol ResultCommand: ParsableCommand {
    var outputChoice: any OutputChoice { get }

    func run(_ invocation: Invocation) async throws
}

/// A command that works on a vault.
protocol VaultCommand: ResultCommand {
    var global: GlobalOptions { get }
}

extension VaultCommand {
    var outputChoice: any OutputChoice { global }
}
