import Hummingbird
import TokenVault

/// This service's cookies.
struct Cookies: Sendable {
    let settings: Settings

    private static let session = "session"
    private static let binding = "log_in"

    func session(of request: Request) -> String? { request.cookies[Self.session]?.value }
    func session(_ name: String) -> Cookie { cookie(Self.session, name, maxAge: nil, path: "/") }

    func binding(of request: Request) -> BrowserBinding? {
        request.cookies[Self.binding].flatMap { try? BrowserBinding($0.value) }
    }

    /// Only the browser that began a log-in may finish it: otherwise an attacker could send a visitor the URL of the
    /// attacker's own log-in, and get the visitor's tokens.
    func binding(_ binding: BrowserBinding) -> Cookie {
        cookie(Self.binding, binding.reveal(), maxAge: 600, path: "/callback")
    }

    var withoutBinding: Cookie { cookie(Self.binding, "", maxAge: 0, path: "/callback") }

    private func cookie(_ name: String, _ value: String, maxAge: Int?, path: String) -> Cookie {
        Cookie(
            name: name, value: value, maxAge: maxAge, path: path, secure: settings.usesTLS, httpOnly: true,
            sameSite: .lax)
    }
}
