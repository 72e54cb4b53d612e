import ArgumentParser

/// How a command speaks.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document instead of text.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print results and errors only.")
    var quiet = false

    @Option(
        help: .init(
            "How messages and log lines are written: text, or json with one object in each line (or TOKENVAULT_LOG_FORMAT).",
            valueName: "format"))
    var logFormat: LogFormat?

    @Flag(name: .shortAndLong, help: "Show each request to a provider, its reply, and the library's log.")
    var verbose = false

    func validate() throws {
        guard !(quiet && verbose) else { throw ValidationError("--quiet and --verbose cannot be combined") }
    }
}

extension Invocation {
    init(console: Console, _ output: OutputOptions) throws(Failure) {
        self.init(
            console: console, isJSON: output.json, isQuiet: output.quiet, isVerbose: output.verbose,
            logsJSON: try LogFormat.chosen(output.logFormat, console.environment) == .json)
    }

    /// With the settings of the configuration file, that of the log lines too.
    func configured(by path: String?, _ output: OutputOptions) throws(Failure) -> Invocation {
        var invocation = try configured(by: path)
        invocation.logsJSON = try LogFormat.chosen(output.logFormat, invocation.console.environment) == .json
        return invocation
    }
}
