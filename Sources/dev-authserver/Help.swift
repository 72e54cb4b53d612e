/// The text of `--help`.
enum Help {
    static var text: String {
        var text = """
            dev-authserver: an OAuth 2.0 authorization server for tests, on this machine only.

            Usage: dev-authserver [options]

            Prints one line when it is ready, "listening on http://127.0.0.1:PORT", and serves until SIGTERM or SIGINT.
            Any user may sign in and no password is asked; nothing outlives the process.


            """
        for section in Option.sections {
            text += "\(section.title):\n"
            for option in section.options { text += line(option) }
            text += "\n"
        }
        return text + """
            Clients that are always there:
              demo                public
              demo-basic          secret demo-basic-secret, client_secret_basic
              demo-post           secret demo-post-secret, client_secret_post
            with the redirect URIs http://127.0.0.1/callback and http://[::1]/callback on any port, and
            https://app.example/callback.

            Discovery: /.well-known/oauth-authorization-server
            Control (log, faults, clock, grants): GET /dev lists the endpoints.

            """
    }

    private static func line(_ option: Option) -> String {
        var left = "  " + option.name
        if case .value(let placeholder, _) = option.effect { left += " " + placeholder }
        let width = 34
        if left.count >= width { return left + "\n" + String(repeating: " ", count: width) + option.help + "\n" }
        return left + String(repeating: " ", count: width - left.count) + option.help + "\n"
    }
}
