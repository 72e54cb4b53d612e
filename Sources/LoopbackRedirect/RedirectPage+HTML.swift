import NIOHTTP1

extension RedirectPage {
    /// The page and its header fields. It loads and runs nothing, and cannot be framed or cached.
    func response(styleNonce nonce: String) -> (HTTPHeaders, String) {
        let body = html(nonce)
        var headers = Self.commonHeaders
        headers.add(name: "Content-Type", value: "text/html; charset=utf-8")
        headers.add(name: "Content-Length", value: String(body.utf8.count))
        headers.add(
            name: "Content-Security-Policy",
            value: "default-src 'none'; style-src 'nonce-\(nonce)'; form-action 'none'; frame-ancestors 'none'; "
                + "base-uri 'none'")
        if status == 405 { headers.add(name: "Allow", value: "GET") }
        return (headers, body)
    }

    /// Redirects the browser from the URL with the code to one without.
    static func sendOn(to path: String) -> HTTPHeaders {
        var headers = commonHeaders
        headers.add(name: "Location", value: path)
        headers.add(name: "Content-Length", value: "0")
        return headers
    }

    private static let commonHeaders: HTTPHeaders = [
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Connection": "close",
    ]

    private func html(_ nonce: String) -> String {
        var body = "<h1>\(Self.escape(title))</h1>\n"
        if let quotation { body += "<blockquote>\(Self.escape(quotation))</blockquote>\n" }
        for sentence in sentences { body += "<p>\(Self.escape(sentence))</p>\n" }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(Self.escape(title))</title>
            <style nonce="\(nonce)">\(Self.style)</style>
            </head>
            <body>
            <main class="\(mark.name)">
            <svg viewBox="0 0 24 24" width="44" height="44" aria-hidden="true">\(mark.drawing)</svg>
            <div>
            \(body)</div>
            </main>
            </body>
            </html>

            """
    }

    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static let style = """
        :root { color-scheme: light dark; --line: #d5d9e0; --card: #ffffff; --ground: #f4f5f7; --text: #1c2026;
          --soft: #545c68; --done: #16794c; --failed: #b3261e; --notice: #545c68; }
        @media (prefers-color-scheme: dark) { :root { --line: #353b45; --card: #1d2127; --ground: #14171b; --text: #e8eaee;
          --soft: #aab2be; --done: #58c893; --failed: #f2857d; --notice: #aab2be; } }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
          color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
        main { width: 100%; max-width: 33rem; display: flex; gap: 1.25rem; align-items: flex-start;
          padding: 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
        main > div { min-width: 0; flex: 1; }
        svg { flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round;
          stroke-linejoin: round; }
        .done svg { color: var(--done); }
        .failed svg { color: var(--failed); }
        .notice svg { color: var(--notice); }
        h1 { margin: .35rem 0 .75rem; font-size: 1.3rem; line-height: 1.3; text-wrap: balance; }
        p { margin: .5rem 0 0; color: var(--soft); }
        blockquote { margin: .75rem 0; padding: .25rem 0 .25rem .9rem; border-left: 3px solid var(--line); }
        h1, p, blockquote { overflow-wrap: anywhere; }
        @media (max-width: 26rem) { main { flex-direction: column; gap: .5rem; padding: 1.25rem; } }
        """
}

extension RedirectPage.Mark {
    var name: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .notice: "notice"
        }
    }

    var drawing: String {
        let circle = #"<circle cx="12" cy="12" r="10"/>"#
        return switch self {
        case .done: circle + #"<path d="M7.5 12.5l3 3 6-6.5"/>"#
        case .failed: circle + #"<path d="M8.5 8.5l7 7m0-7l-7 7"/>"#
        case .notice: circle + #"<path d="M12 11v5.5M12 7.5v.01"/>"#
        }
    }
}
