import ArgumentParser

/// A command that prints a result.
protocol ResultCommand: ParsableCommand {
    var outputChoice: any OutputChoice { get }

    func run(_ invocation: Invocation) async throws
}

/// A command that works on a vault.
protocol VaultCommand: ResultCommand {
    var global: GlobalOptions { get }
    /// Whether it runs unattended, as a service does, so that the audit trail names no person for its actions.
    var actsByItself: Bool { get }
}

extension VaultCommand {
    var outputChoice: any OutputChoice { global }
    var actsByItself: Bool { false }
}
