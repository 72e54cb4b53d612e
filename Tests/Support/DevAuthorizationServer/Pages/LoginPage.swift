import HTTPTypes

/// What a person sees in the browser.
enum LoginPage {
    static func login(
        client: String, scopes: [String], user: String, ticket: String, action: String, redirectOrigin: String
    ) -> Reply {
        let body = """
            <h1>Let \(HTML.escape(client)) act for you?</h1>
            <p>The application asks for:</p>
            \(ApprovalForm.html(scopes: scopes, user: user, ticket: ticket, action: action))
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
