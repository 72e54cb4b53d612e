/// What the client asks for, and who answers how.
enum ApprovalForm {
    static func html(scopes: [String], user: String, ticket: String, action: String) -> String {
        let wishes = scopes.map { "<li>\(HTML.escape($0))</li>" }.joined(separator: "\n")
        return """
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
    }
}
