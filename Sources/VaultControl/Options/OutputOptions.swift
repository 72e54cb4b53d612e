import ArgumentParser

/// How a command speaks.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document instead of text.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print results and errors only.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Show each request to a provider, its reply, and the library's log.")
    var verbose = false

    func validate() throws {
        guard !(quiet && verbose) else { throw ValidationError("--quiet and --verbose cannot be combined") }
    }
}

extension Invocation {
    init(console: Console, _ output: OutputOptions) {
        self.init(console: console, isJSON: output.json, isQuiet: output.quiet, isVerbose: output.verbose)
    }
}
