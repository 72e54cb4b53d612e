import ArgumentParser
import Platform
import Synchronization
import TokenVault

/// The program `vaultctl`.
public enum CommandLineTool {
    /// Keeps other processes out of this one. The program calls it first.
    public static func harden() {
        StartingConditions.fillStreams()
        ProcessHardening.apply()
    }

    /// Runs the program in this process's streams and returns its exit code.
    public static func main() async -> Int32 {
        // When a reader such as `head` goes away, do not die silently.
        Signal.noReader.ignore()
        // Nor at a file size limit: the write fails with a reason.
        Signal.fileTooLarge.ignore()
        let console = Console(
            input: .standardInput, output: .standardOutput, error: .standardError, environment: Environment.variables)
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let failure = StartingConditions.failure {
            Invocation(console: console, isJSON: arguments.contains("--json"), isQuiet: false).report(failure)
            return failure.status.rawValue
        }
        let work = Task { await run(arguments, on: console) }
        let interrupts = Interrupts(on: console) { work.cancel() }
        let status = await work.value
        if stoppedAsMeant.load(ordering: .relaxed) { return status.rawValue }
        return withExtendedLifetime(interrupts) { Interrupts.exitCode ?? status.rawValue }
    }

    /// Whether a signal stopped a program that is meant to end that way.
    private static let stoppedAsMeant = Atomic<Bool>(false)

    /// Runs one command line.
    package static func run(_ given: [String], on console: Console) async -> ExitStatus {
        var arguments = given
        // Use what the command line seems to say until it has been parsed.
        var invocation = Invocation(
            console: console, isJSON: arguments.prefix { $0 != "--" }.contains("--json"), isQuiet: false)
        do {
            try SecretArguments.check(arguments)
            try SecretArguments.checkStreams(arguments)
            try Environment.refuseSecrets(console.environment, arguments)
            arguments = CommandNames.helpFirst(try LeadingOptions.moved(arguments))
            // Of the program alone: one after a command would be taken for that of what it names.
            if arguments == ["--version"] {
                try console.write(TokenVaultVersion.current + "\n", to: .output)
                return .success
            }
            // With `--json`, for instance.
            if arguments.first == "--version" { arguments[0] = "version" }
            if arguments == ["help", "options"] {
                try console.write(HelpText.commonOptions + "\n", to: .output)
                return .success
            }
            try CommandNames.check(arguments)
            try GivenArguments.check(arguments, home: console.environment["HOME"])
            var command = try RootCommand.parseAsRoot(arguments)
            if let command = command as? any ResultCommand {
                let output = command.outputChoice
                invocation = try Invocation(console: console, output)
                if let command = command as? any VaultCommand {
                    invocation = try invocation.configured(by: command.global.config, output)
                    for slip in Environment.misspelt(console.environment) { invocation.warn(slip) }
                    invocation.explain = { [arguments] in await MissingName.explained($0, arguments, in: $1) }
                    if !command.actsByItself {
                        invocation.actor = OperatorIdentity.actor(arguments, console.environment)
                    }
                }
                // An operator types the names here; no stranger chooses them.
                let prepared = command
                try await ArgumentCheck.$takesQualified.withValue(true) { [invocation] in
                    try await prepared.run(invocation)
                }
            } else {
                try CommandNames.requireVerb(of: type(of: command), arguments)
                try command.run()
            }
            return .success
        } catch let error as ExitRequest {
            if error.isFinal { stoppedAsMeant.store(true, ordering: .relaxed) }
            return error.status
        } catch {
            if isParserError(error) {
                return reportParserError(error, arguments, invocation)
            }
            var failure = Failure(error)
            failure.noteProxy(
                for: error, in: invocation.console.environment, proxy: GivenArguments(arguments)?.value(of: "--proxy"))
            failure.nameProvider(arguments)
            failure.nameVariable(arguments)
            if failure.code.hasPrefix("output"), let hint = invocation.made.hint { failure.hints.append(hint) }
            if failure.status != .success {
                invocation.report(failure)
            }
            return failure.status
        }
    }

    /// Errors that only ArgumentParser can phrase: usage, and requests for help, version or completion.
    private static func isParserError(_ error: any Error) -> Bool {
        !(error is Failure) && RootCommand.exitCode(for: error) != .failure
    }

    private static func reportParserError(
        _ error: any Error, _ arguments: [String], _ invocation: Invocation
    ) -> ExitStatus {
        let text = RootCommand.fullMessage(for: error)
        guard RootCommand.exitCode(for: error) != .success else {
            do throws(OutputError) {
                try invocation.console.write(HelpText.ordered(text) + "\n", to: .output)
                return .success
            } catch {
                let failure = Failure(error)
                if failure.status != .success { invocation.report(failure) }
                return failure.status
            }
        }
        let usage = text.split(separator: "\n").first { $0.hasPrefix("Usage:") }.map {
            String($0.dropFirst("Usage: ".count))
        }
        // An unknown option may be a misspelling of the missing one.
        var message = RootCommand.message(for: error)
        if !message.hasPrefix("Unknown option"), let name = GivenArguments(arguments)?.unknown {
            message = "Unknown option '\(name)'"
        }
        invocation.report(ParserError(message, usage: usage, arguments).failure)
        return .usage
    }
}
