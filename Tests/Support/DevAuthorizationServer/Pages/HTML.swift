import HTTPTypes

/// Text of others on pages of ours.
enum HTML {
    static func escape(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// A whole page that may load nothing, run nothing, and be framed nowhere.
    ///
    /// `formTargets` are the places a form may lead to. Browsers apply the rule to redirects after the form, too, so
    /// the client's origin is among them.
    static func page(
        title: String, status: HTTPResponse.Status, formTargets: [String] = [], body: String
    ) -> Reply {
        let nonce = SecretSource.random(length: 22)
        let text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(escape(title))</title>
            <style nonce="\(nonce)">\(style)</style>
            </head>
            <body>
            <main>
            \(body)
            </main>
            </body>
            </html>

            """
        let forms = formTargets.isEmpty ? "'none'" : formTargets.joined(separator: " ")
        let policy =
            "default-src 'none'; style-src 'nonce-\(nonce)'; form-action \(forms); "
            + "frame-ancestors 'none'; base-uri 'none'"
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .contentSecurityPolicy: policy,
            .referrerPolicy: "no-referrer",
            .frameOptions: "DENY",
            .contentTypeOptions: "nosniff",
        ]
        return Reply(status, headers: headers, body: Array(text.utf8)).uncached
    }

    private static let style = """
        :root { color-scheme: light dark; --line: #c9ced6; --accent: #1f5fd0; --ring: #1f5fd0; }
        @media (prefers-color-scheme: dark) { :root { --line: #4a515d; --ring: #82aaf5; } }
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText;
          font: 16px/1.5 system-ui, sans-serif; }
        main { width: min(26rem, calc(100vw - 3rem)); border: 1px solid var(--line); border-radius: 12px;
          padding: 2rem; box-sizing: border-box; }
        h1 { font-size: 1.35rem; margin: 0 0 .75rem; line-height: 1.3; overflow-wrap: anywhere; }
        p { margin: 0 0 1rem; overflow-wrap: anywhere; }
        ul { margin: 0 0 1.25rem; padding-left: 1.25rem; }
        label { display: block; font-weight: 600; margin-bottom: .25rem; }
        input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem .65rem; margin-bottom: 1.25rem;
          border: 1px solid var(--line); border-radius: 8px; background: Field; color: FieldText; }
        .buttons { display: flex; gap: .75rem; }
        button { flex: 1; font: inherit; font-weight: 600; padding: .6rem 1rem; border-radius: 8px;
          border: 1px solid var(--line); background: transparent; color: inherit; cursor: pointer; }
        button.primary { background: var(--accent); border-color: var(--accent); color: white; }
        button:focus-visible, input:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
        .note { font-size: .85rem; opacity: .75; margin: 1.25rem 0 0; }
        """
}
