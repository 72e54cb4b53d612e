import HTTPTypes

/// What a person sees in the browser.
enum LoginPage {
    static func login(
        client: String, scopes: [String], user: String, ticket: String, action: String, redirectOrigin: String
    ) -> Reply {
        let wishes = scopes.map { "<li>\(HTML.escape($0))</li>" }.joined(separator: "\n")
        let body = """
            <h1>Let \(HTML.escape(client)) act for you?</h1>
            <p>The application asks for:</p>
            <ul>
            \(wishes)
            </ul>
            <form method="post" action="\(HTML.escape(action))">
            <input type="hidden" name="ticket" value="\(HTML.escape(ticket))">
            <label for="user">Sign in as</label>
            <input id="user" name="user" value="\(HTML.escape(user))" autocomplete="username" required autofocus>
            <div class="buttons">
            <button type="submit" name="decision" value="deny" formnovalidate>Deny</button>
            <button type="submit" name="decision" value="approve" class="primary">Approve</button>
            </div>
            </form>
            <p class="note">Development server: any name signs in, and no password is needed.</p>
            """
        return HTML.page(
            title: "Sign in", status: .ok, formTargets: ["'self'", redirectOrigin], body: body)
    }

    static func failure(_ sentence: String) -> Reply {
        HTML.page(
            title: "Cannot sign in", status: .badRequest,
            body: "<h1>Cannot sign in</h1>\n<p>\(HTML.escape(sentence))</p>")
    }
}
