import ArgumentParser

/// How a command prints.
protocol OutputChoice {
    var json: Bool { get }
    var quiet: Bool { get }
    var logFormat: LogFormat? { get }
    var verbose: Bool { get }
}

/// How a command prints that needs no vault.
struct OutputOptions: ParsableArguments, OutputChoice {
    @Flag(.json) var json = false
    @Flag(.quiet) var quiet = false
    @Option(.logFormat) var logFormat: LogFormat?
    @Flag(.verbose) var verbose = false

    func validate() throws { try checkOutput() }
}

extension OutputChoice {
    func checkOutput() throws {
        guard !(quiet && verbose) else { throw ValidationError("--quiet and --verbose cannot be combined") }
    }
}

enum OutputFlag {
    case json, quiet, verbose
}

enum OutputOption {
    case logFormat
}

extension Flag where Value == Bool {
    init(wrappedValue: Bool, _ flag: OutputFlag) {
        switch flag {
        case .json: self.init(wrappedValue: wrappedValue, help: "Print one JSON document instead of text.")
        case .quiet: self.init(wrappedValue: wrappedValue, name: .shortAndLong, help: "Print results and errors only.")
        case .verbose:
            self.init(
                wrappedValue: wrappedValue, name: .shortAndLong,
                help: "Show each request to a provider, its reply, and the library's log.")
        }
    }
}

extension Option where Value == LogFormat? {
    init(_: OutputOption) {
        self.init(
            help: .init(
                "How messages and log lines are written: text, or json with one object in each line (or TOKENVAULT_LOG_FORMAT).",
                valueName: "format"))
    }
}

extension Invocation {
    init(console: Console, _ output: any OutputChoice) throws(Failure) {
        self.init(
            console: console, isJSON: output.json, isQuiet: output.quiet, isVerbose: output.verbose,
            logsJSON: try LogFormat.chosen(output.logFormat, console.environment) == .json)
    }

    /// The invocation with the configuration file's settings, including the log format.
    func configured(by path: String?, _ output: any OutputChoice) throws(Failure) -> Invocation {
        var invocation = try configured(by: path)
        invocation.logsJSON = try LogFormat.chosen(output.logFormat, invocation.console.environment) == .json
        return invocation
    }
}
