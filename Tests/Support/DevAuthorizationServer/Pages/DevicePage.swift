import HTTPTypes

/// What a person sees who approves a log-in on another device (RFC 8628 §3.3).
enum DevicePage {
    static func question(action: String, isWrong: Bool = false) -> Reply {
        let note = isWrong ? "<p role=\"alert\">This code is not known, or has expired.</p>\n" : ""
        let body = """
            <h1>Log in on another device</h1>
            \(note)<form method="get" action="\(HTML.escape(action))">
            <label for="user_code">Code shown by the device</label>
            <input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" required autofocus>
            <div class="buttons"><button type="submit" class="primary">Continue</button></div>
            </form>
            """
        return HTML.page(
            title: "Log in on another device", status: isWrong ? .badRequest : .ok, formTargets: ["'self'"], body: body)
    }

    static func decision(
        client: String, userCode: String, scopes: [String], user: String, ticket: String, action: String
    ) -> Reply {
        let body = """
            <h1>Let \(HTML.escape(client)) act for you?</h1>
            <p>Approve only if your device shows <strong>\(HTML.escape(userCode))</strong>. It asks for:</p>
            \(ApprovalForm.html(scopes: scopes, user: user, ticket: ticket, action: action))
            """
        return HTML.page(title: "Approve a log-in", status: .ok, formTargets: ["'self'"], body: body)
    }

    static func done(isApproved: Bool) -> Reply {
        let words = isApproved ? ("Approved", "Your device is logged in.") : ("Denied", "Your device gets no access.")
        return HTML.page(
            title: words.0, status: .ok, body: "<h1>\(words.0)</h1>\n<p>\(words.1) You can close this page.</p>")
    }
}
