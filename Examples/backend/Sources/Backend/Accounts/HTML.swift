import HTTPTypes
import Hummingbird

/// Pages that load only one stylesheet, run no script, and cannot be framed.
enum HTML {
    /// Escapes foreign text for our pages.
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

    /// - Parameter formTargets: other origins that forms may lead to. Browsers also apply the rule to redirects after a
    ///   form, so they include the providers' origins.
    static func page(
        _ title: String, status: HTTPResponse.Status = .ok, formTargets: [String] = [], _ body: String
    ) -> Response {
        let text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(escape(title))</title>
            <link rel="stylesheet" href="/accounts.css">
            </head>
            <body>
            <main>
            \(body)
            </main>
            </body>
            </html>

            """
        let policy =
            "default-src 'none'; style-src 'self'; form-action \((["'self'"] + formTargets).joined(separator: " ")); "
            + "frame-ancestors 'none'; base-uri 'none'"
        var response = Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        response.headers[.contentSecurityPolicy] = policy
        response.headers[.xContentTypeOptions] = "nosniff"
        // With `no-referrer` browsers would also hide the origin of our own forms.
        if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "same-origin" }
        return response
    }
}
