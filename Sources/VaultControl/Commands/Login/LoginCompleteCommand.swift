import ArgumentParser
import OAuthClient
import TokenVault

struct LoginCompleteCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Finish a log-in with the URL to which the user's browser returned.",
        discussion: """
            vaultctl login complete
            vaultctl login complete --callback-url - <callback.txt

            Paste the URL at the prompt, or read it from standard input: the code in it is a secret until it is used, \
            so it is not taken from the command line. Instead of the URL you can give its parts: --state, --iss if \
            the URL has an iss, and the code at the prompt or with --code-file, --code-fd or --code -.

            Anyone who brings a callback completes the log-in with it: accept callbacks only from the person to whom \
            you gave the URL. A service binds its log-ins to browsers instead.
            """)

    @Option(help: .init("- to read the URL from standard input; or a URL that has no code.", valueName: "url"))
    var callbackURL: String?

    @Option(help: .init("The callback's state parameter.", valueName: "text"))
    var state: String?

    @Option(help: .init("The callback's iss parameter, decoded, if it has one.", valueName: "url"))
    var iss: String?

    @OptionGroup var code: SecretOptions<CodeKind>

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let source = try code.source
        guard callbackURL == nil || (state == nil && source == nil) else {
            throw Failure.usage("--callback-url and --state or a code cannot be combined", hint: "use only one of them")
        }
        guard iss == nil || state != nil else {
            throw Failure.usage("--iss needs the --state that came with it", hint: "or use --callback-url")
        }
        guard source == nil || state != nil else {
            throw Failure.usage("a code needs its --state", hint: "both are in the callback URL; or use --callback-url")
        }
        let done = try await VaultAccess(global, invocation).manage { users, reader in
            if let state {
                let code = try reader.read("Code", from: try needed(source, "the code", "--code -", invocation))
                let parts = LogInCallback.parameters(state: state, code: try AuthorizationCode(code), issuer: iss)
                return try await complete(
                    parts, users,
                    hint: iss == nil
                        ? "give the callback's iss with --iss; if it has none, do not use it: it may be forged"
                        : Self.ended)
            }
            return try await complete(.url(try url(&reader, invocation)), users, hint: Self.ended)
        }
        try LoginView.emit(new: done, invocation)
        invocation.hint("get its token: vaultctl token get \(done.login.id)")
    }

    private static let ended =
        "this log-in has ended: begin again: vaultctl login begin; if that was the whole URL, it may be forged"

    private func complete(
        _ callback: LogInCallback, _ users: UserManager, hint: String
    ) async throws -> CompletedLogIn {
        do {
            let done = try await users.completeUnboundLogIn(callback)
            try await users.revokeReplaced(of: done.login.id)
            return done
        } catch let error as VaultError
            where error.code == .protocolViolation && error.hint == nil && error.message.hasPrefix("the callback ")
        {
            var failure = Failure(error)
            failure.hints = [hint]
            throw failure
        }
    }

    private func url(_ reader: inout SecretReader, _ invocation: Invocation) throws -> String {
        let text =
            switch callbackURL {
            case "-": try reader.read("Callback URL", from: .standardInput)
            case let url?: url
            case nil:
                try reader.read("Callback URL", from: needed(nil, "the callback URL", "--callback-url -", invocation))
            }
        // Blanks and empty lines come along with a pasted URL, and would make it another one, which uses the log-in up.
        let url = PathProblem.trimmed(text)
        guard !url.contains("response_type="), !url.contains("request_uri=") else {
            throw Failure.usage(
                "this is the URL at which the log-in begins",
                hint: "open it in the user's browser, and give the URL at which that ends")
        }
        try refuseOther(url)
        return url
    }

    /// Text that is near a callback URL. It may contain a code, so it is not shown.
    private func refuseOther(_ url: String) throws(Failure) {
        if let first = url.first, "\"'<“‘«".contains(first) {
            throw .usage("the callback URL begins with \(first)", hint: "give the URL alone, without quotation marks")
        }
        if url.contains(where: \.isWhitespace) {
            throw .usage(
                "the callback URL has a line break or a blank in it", hint: "write it as one line, without blanks")
        }
        if url.contains("&amp;") {
            throw .usage(
                "the callback URL has &amp; in place of &",
                hint: "copy it from the browser's address bar, and not from the source of a page")
        }
        if let mark = url.firstIndex(of: "#"), case let answer = url[mark...], answer.contains("state="),
            !url[..<mark].contains("state=")
        {
            throw .usage(
                "the provider's answer is after the # of the callback URL (response_mode=fragment), and cannot be used",
                hint: "begin again without such a parameter; at the provider, register a web application")
        }
        if callbackURL == url, !url.contains(where: { "?=:".contains($0) }), FileKind(url) != nil {
            throw .usage(
                "the callback URL is the name of a file",
                hint: "read the file: vaultctl login complete --callback-url - <\(Printable.path(url))")
        }
    }

    private func needed(
        _ source: SecretSource?, _ what: String, _ option: String, _ invocation: Invocation
    ) throws -> SecretSource {
        if let source { return source }
        guard invocation.console.inputIsTerminal else {
            throw Failure.usage("\(what) is missing", hint: "give it with \(option)")
        }
        return .prompt
    }
}
