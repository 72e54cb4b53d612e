extension HostileCase {
    private static let good = HostileReply.good()
    private static let page = "<html><body>Please log in. invalid_grant</body></html>"

    /// Every redirect to every kind of place: returned, never followed.
    static let redirects: [HostileCase] = [301, 302, 303, 307, 308].flatMap { status in
        [
            ("another host", "http://127.0.0.1:{other}/token"), ("itself", "http://127.0.0.1:{self}/token"),
            ("a relative path", "/token"), ("loopback by name", "http://localhost:{other}/"),
            ("a file", "file:///etc/passwd"), ("data", "data:application/json,{}"), ("nowhere", ""),
        ].map { name, location in
            HostileCase(
                "redirects by \(status) to \(name)", [.readRequest, .reply(status, good, "Location: \(location)")],
                .laterInDoubt)
        }
    }

    /// Statuses, and bodies that do not go with them.
    static let statuses: [HostileCase] =
        [
            .reply("answers 200 with a captive portal", 200, page, .doubt, "Content-Type: text/html"),
            .reply("answers 200 with nothing", 200, "", .doubt),
            HostileCase("answers 204", [.readRequest, .write(HostileStep.head(204))], .doubt),
            .reply("answers 201 with tokens", 201, good, .success),
            .reply("answers 202 with tokens", 202, good, .success),
            .reply("answers 200 with ok:false", 200, #"{"ok":false,"error":"nobody_knows"}"#, .laterInDoubt),
            .reply("answers 200 with ok:false and no error", 200, #"{"ok":false}"#, .doubt),
            .reply("answers 300", 300, good, .laterInDoubt),
            .reply("answers 418 with tokens", 418, good, .laterInDoubt),
            .reply("answers 600", 600, good, .doubt),
            .reply("answers 999", 999, good, .doubt),
            HostileCase("answers 000", [.readRequest, .write("HTTP/1.1 000 No\r\n\r\n")], .doubt),
            HostileCase(
                "answers 099 with tokens", [.readRequest, .write("HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n")],
                .doubt),
            HostileCase(
                "says 100 Continue and answers 000",
                [
                    .readRequest,
                    .write("HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n"),
                ],
                .doubt),
            HostileCase("answers 2000", [.readRequest, .write("HTTP/1.1 2000 OK\r\n\r\n")], .doubt),
            HostileCase("answers -200", [.readRequest, .write("HTTP/1.1 -200 OK\r\n\r\n")], .doubt),
            HostileCase("answers 304", [.readRequest, .write(HostileStep.head(304))], .laterInDoubt),
        ]
        + [400, 403, 404, 405, 408, 409, 410, 415, 425, 431, 451].map {
            .reply("answers \($0) with a page", $0, page, .later, "Content-Type: text/html")
        }
        + [400, 401, 403].map { .reply("answers \($0) with nothing", $0, "", .later) }
        + ["5", "Tue, 14 Nov 2033 22:13:20 GMT", "-1", "1000000000", "99999999999999999999", "soon", "", "5, 6"].map {
            .reply("answers 429 with Retry-After: \($0)", 429, HostileReply.invalidGrant, .later, "Retry-After: \($0)")
        }
        + [
            .reply("answers 429", 429, HostileReply.invalidGrant, .later),
            .reply("answers 503 with Retry-After", 503, "", .later, "Retry-After: 5"),
            .reply("answers 500", 500, "", .laterInDoubt),
            .reply("answers 500 with tokens", 500, good, .laterInDoubt),
            .reply("answers 500 with invalid_grant", 500, HostileReply.invalidGrant, .laterInDoubt),
            .reply("answers 502 with a page", 502, page, .laterInDoubt, "Content-Type: text/html"),
            .reply(
                "answers 400 with invalid_grant and Retry-After", 400, HostileReply.invalidGrant, .later,
                "Retry-After: 5"),
        ] + errors

    /// Refusals: what is a verdict, and what only looks like one.
    private static let errors: [HostileCase] = [
        .reply("refuses with invalid_grant", 400, HostileReply.invalidGrant, .dead),
        .reply("refuses with invalid_grant as a form", 400, "error=invalid_grant", .dead),
        .reply("refuses with invalid_grant by 401", 401, HostileReply.invalidGrant, .dead),
        .reply("refuses with invalid_grant by 200", 200, HostileReply.invalidGrant, .dead),
        .reply("refuses in upper case", 400, HostileReply.error("INVALID_GRANT"), .later),
        .reply("refuses with a space behind", 400, HostileReply.error("invalid_grant "), .later),
        .reply("refuses in a list", 400, #"{"error":["invalid_grant"]}"#, .later),
        .reply("refuses in an object", 400, #"{"error":{"error":"invalid_grant"}}"#, .later),
        .reply("refuses in an escaped letter", 400, #"{"error":"invalid_gran\u0074"}"#, .dead),
        .reply("refuses with a homoglyph", 400, #"{"error":"invalid_grаnt"}"#, .later),
        .reply("refuses in a string", 400, #""{\"error\":\"invalid_grant\"}""#, .later),
        .reply("refuses twice in two ways", 400, #"{"error":"invalid_grant","error":"slow_down"}"#, .later),
        .reply("refuses with half a document", 400, #"{"error":"invalid_grant""#, .later),
        .reply("refuses and adds to the document", 400, HostileReply.invalidGrant + "}", .later),
        .reply("refuses in plain text", 400, "invalid_grant", .later),
        .reply("refuses in a page", 400, page, .later),
        .reply(
            "refuses with a policy's suberror", 400, #"{"error":"invalid_grant","suberror":"basic_action"}"#, .needsUser
        ),
        .reply("refuses and gives tokens", 200, HostileReply.good(["error": "\"invalid_grant\""]), .successor),
        .reply("refuses with invalid_client", 401, HostileReply.error("invalid_client"), .misconfigured),
        .reply("refuses with unauthorized_client", 400, HostileReply.error("unauthorized_client"), .misconfigured),
        .reply(
            "refuses with unsupported_grant_type", 400, HostileReply.error("unsupported_grant_type"), .misconfigured),
        .reply("refuses with invalid_scope", 400, HostileReply.error("invalid_scope"), .misconfigured),
        .reply("refuses with invalid_request", 400, HostileReply.error("invalid_request"), .misconfigured),
        .reply("refuses with interaction_required", 400, HostileReply.error("interaction_required"), .needsUser),
        .reply("refuses with temporarily_unavailable", 400, HostileReply.error("temporarily_unavailable"), .later),
        .reply("refuses with a word that nobody knows", 400, HostileReply.error("nobody_knows"), .later),
        .reply("refuses with 60 000 letters", 400, HostileReply.error(String(repeating: "x", count: 60_000)), .later),
        .reply("refuses with an empty word", 400, HostileReply.error(""), .later),
        .reply("asks a login without a key for a nonce", 400, HostileReply.error("use_dpop_nonce"), .misconfigured),
        .reply(
            "asks a login without a key for a nonce, and gives one", 400, HostileReply.error("use_dpop_nonce"),
            .misconfigured, "DPoP-Nonce: one"),
        .reply(
            "refuses the proof of a login without a key", 400, HostileReply.error("invalid_dpop_proof"),
            .misconfigured),
        .reply(
            "echoes the refresh token in the error itself", 400, HostileReply.error("CANARY-refresh-1"), .later),
        .reply(
            "echoes the refresh token in a header field", 400, HostileReply.error("nobody_knows"), .later,
            "X-Debug: CANARY-refresh-1"),
        .reply(
            "echoes the refresh token in a page", 500, "<html>refresh_token=CANARY-refresh-1</html>", .laterInDoubt),
        .reply(
            "writes to the terminal in the error itself", 400, #"{"error":"\u001b[2J%n\nlevel=error msg=x"}"#, .later),
        .reply(
            "echoes the refresh token", 400,
            #"{"error":"invalid_grant","error_description":"no such token: CANARY-refresh-1"}"#, .dead),
        .reply(
            "writes to the terminal and the log", 400,
            #"{"error":"nobody_knows","error_description":"\u001b]0;owned\u0007%n%s\r\nlevel=error msg=x"}"#, .later),
        HostileCase(
            "puts a bait into error_uri",
            [
                .readRequest,
                .write(
                    "HTTP/1.0 400 Bad\r\n\r\n"
                        + #"{"error":"nobody_knows","error_uri":"http://127.0.0.1:{other}/latest/meta-data"}"#),
            ], .later),
    ]
}
