import FoundationEssentials
import Hummingbird
import TokenVault
import TokenVaultHummingbird

/// The pages on which people manage their connected accounts.
struct AccountPage {
    let session: BrowserSessions.Session
    let providers: [Provider]

    private var formTargets: [String] { providers.compactMap { $0.authorizationEndpoint?.origin } }

    /// The page for a browser that is not signed in. A real service has its own way to sign in.
    static func signIn(_ notice: Notice?) -> Response {
        HTML.page(
            "Sign in",
            """
            <header><h1>Sign in</h1></header>
            \(Self.notice(notice))
            <form class="card" method="post" action="/sign-in">
            <label for="user">Your name</label>
            <div class="field"><input type="text" id="user" name="user" autocomplete="username" maxlength="100" required>
            <button class="primary">Sign in</button></div>
            <p class="quiet">This stands for the sign-in of your own service: any name will do.</p>
            </form>
            """)
    }

    func overview(_ accounts: [Login], _ notice: Notice?) -> Response {
        let list =
            accounts.isEmpty
            ? "<p class=\"card\">No account is connected yet.</p>"
            : "<ul class=\"accounts\" role=\"list\">\n\(accounts.map(item).joined(separator: "\n"))\n</ul>"
        return HTML.page(
            "Connected accounts", formTargets: formTargets,
            """
            <header><div><h1>Connected accounts</h1>
            <p class="quiet">Signed in as \(HTML.escape(session.user))</p></div>
            \(form("/sign-out", "<button>Sign out</button>"))</header>
            \(Self.notice(notice))
            \(list)
            <h2 class="section">Connect another account</h2>
            \(providers.map(connecting).joined(separator: "\n"))
            """)
    }

    /// Asks before the account is disconnected.
    func confirmation(_ login: Login) -> Response {
        HTML.page(
            "Disconnect an account", formTargets: formTargets,
            """
            <header><h1>Disconnect \(HTML.escape(Self.name(of: login)))?</h1></header>
            <div class="card">
            <p>We can then no longer act for you at \(HTML.escape(login.provider ?? "the provider")), and our access there \
            is ended. You can connect the account again at any time.</p>
            <div class="buttons">
            \(form("/accounts/\(login.id)/disconnect", "<button class=\"danger\">Disconnect</button>"))
            <a class="button" href="/accounts">Keep it</a>
            </div>
            </div>
            """)
    }

    static func missing() -> Response {
        HTML.page(
            "Not found", status: .notFound,
            "<header><h1>There is no such account</h1></header>\n<p><a class=\"button\" href=\"/accounts\">Connected accounts</a></p>"
        )
    }

    private func item(_ login: Login) -> String {
        let (name, path) = (HTML.escape(Self.name(of: login)), "/accounts/\(login.id)")
        let needsUser = Self.needsUser(login)
        // A screen reader reads one button after the other: each names its account.
        let suffix = "<span class=\"hidden\"> \(name)</span>"
        let why = needsUser ? "<p class=\"why\">\(Self.reason(login))</p>" : ""
        return """
            <li class="card">
            <div class="top"><h2>\(name)</h2>\
            <span class="state \(needsUser ? "bad" : "good")">\(needsUser ? "⚠ Needs you" : "✓ Connected")</span></div>
            <p class="quiet">\(HTML.escape(login.provider ?? "")) · connected since \(Self.day(login.createdAt))</p>
            \(why)
            <div class="buttons">
            \(form("\(path)/reconnect", "<button\(needsUser ? " class=\"primary\"" : "")>Connect again\(suffix)</button>"))
            <a class="button danger" href="\(path)/disconnect">Disconnect\(suffix)</a>
            <details><summary>Rename\(suffix)</summary>
            \(form("\(path)/rename", renaming(login), isInline: false))
            </details>
            </div>
            </li>
            """
    }

    private func renaming(_ login: Login) -> String {
        let id = "name-\(login.id)"
        return """
            <label for="\(id)">New name</label>
            <div class="field"><input type="text" id="\(id)" name="label" value="\(HTML.escape(login.label ?? ""))" \
            maxlength="60" autocomplete="off"><button>Save</button></div>
            """
    }

    private func connecting(_ provider: Provider) -> String {
        let (name, id) = (HTML.escape(provider.name), HTML.escape("label-\(provider.name)"))
        return """
            <div class="card">
            \(form("/accounts/connect", """
                <input type="hidden" name="provider" value="\(name)">
                <label for="\(id)">A name for the \(name) account <span class="quiet">(optional)</span></label>
                <div class="field"><input type="text" id="\(id)" name="label" maxlength="60" autocomplete="off">
                <button class="primary">Connect \(name)</button></div>
                """, isInline: false))
            </div>
            """
    }

    private func form(_ action: String, _ content: String, isInline: Bool = true) -> String {
        """
        <form method="post" action="\(HTML.escape(action))"\(isInline ? " class=\"inline\"" : "")>
        <input type="hidden" name="token" value="\(HTML.escape(session.formToken))">
        \(content)
        </form>
        """
    }

    /// Gets the focus, so that a keyboard user continues from here, and a screen reader starts here.
    private static func notice(_ notice: Notice?) -> String {
        guard let notice else { return "" }
        let role = notice.isBad ? "alert" : "status"
        return
            "<p class=\"notice\(notice.isBad ? " bad" : "")\" role=\"\(role)\" tabindex=\"-1\" autofocus>\(notice.words)</p>"
    }

    static func name(of login: Login) -> String { login.label ?? "\(login.provider ?? "An") account" }

    /// Whether the person must connect the account again. Outages pass on their own.
    static func needsUser(_ login: Login) -> Bool { VaultAccount(.login(login)).needsUser }

    private static func reason(_ login: Login) -> String {
        login.needsUser
            ? "The provider wants you to confirm something. Connect the account again."
            : "Our access has ended at the provider. Connect the account again to go on."
    }

    private static func day(_ date: Date) -> String {
        let day = date.formatted(.iso8601.year().month().day())
        return "<time datetime=\"\(day)\">\(day)</time>"
    }
}
