extension HostileCase {
    private static func token(_ count: Int) -> String { "\"" + String(repeating: "t", count: count) + "\"" }

    /// Replies that can be read and should not be believed as they are.
    static let semantics: [HostileCase] = [
        ok("only a refresh token", HostileReply.good(["access_token": nil]), .successor),
        ok("only an access token", HostileReply.good(["refresh_token": nil]), .successKeepingToken),
        ok("neither token", HostileReply.good(["access_token": nil, "refresh_token": nil]), .doubt),
        ok("an empty access token", HostileReply.good(["access_token": "\"\""]), .successor),
        ok("an access token that is a number", HostileReply.good(["access_token": "7"]), .successor),
        ok("an access token of one byte", HostileReply.good(["access_token": token(1)]), .success),
        ok("an access token with spaces", HostileReply.good(["access_token": "\" a b \""]), .success),
        ok("an access token of 64 KiB", HostileReply.good(["access_token": token(65_536)]), .success),
        ok("an access token of more than 64 KiB", HostileReply.good(["access_token": token(65_537)]), .successor),
        ok("an access token of 1 MiB", HostileReply.good(["access_token": token(1_048_576)]), .doubt),
        ok(
            "an access token with a bidirectional override", HostileReply.good(["access_token": "\"\u{202E}a\""]),
            .successor),
        ok("the refresh token that was sent", HostileReply.good(["refresh_token": "\"CANARY-refresh-1\""]), .success),
        ok("an older refresh token", HostileReply.good(["refresh_token": "\"CANARY-refresh-0\""]), .success),
        ok("an empty refresh token", HostileReply.good(["refresh_token": "\"\""]), .successKeepingToken),
        ok("a refresh token that is null", HostileReply.good(["refresh_token": "null"]), .successKeepingToken),
        ok("a refresh token that is false", HostileReply.good(["refresh_token": "false"]), .successKeepingToken),
        // Whatever a form body can carry is kept, and sent as it came.
        ok("a refresh token with a NUL", HostileReply.good(["refresh_token": #""a\u0000b""#]), .success),
        ok(
            "a refresh token of more than 64 KiB", HostileReply.good(["refresh_token": token(65_537)]), .success),
        ok("no token type", HostileReply.good(["token_type": nil]), .success),
        ok("bearer in lower case", HostileReply.good(["token_type": "\"bearer\""]), .success),
        ok("a DPoP token without being asked", HostileReply.good(["token_type": "\"DPoP\""]), .successor),
        ok("a mac token", HostileReply.good(["token_type": "\"mac\""]), .successor),
        ok("a mac token alone", HostileReply.good(["token_type": "\"mac\"", "refresh_token": nil]), .misconfigured),
        ok("a token type that is a list", HostileReply.good(["token_type": "[\"Bearer\"]"]), .successor),
        ok("an empty error beside tokens", HostileReply.good(["error": "\"\""]), .success),
        ok("an error that is null beside tokens", HostileReply.good(["error": "null"]), .success),
        ok("an id token that is none", HostileReply.good(["id_token": "\"x\""]), .success),
        ok("an id token of the same user", HostileReply.good(["id_token": "\"\(alice)\""]), .success)
            .expecting(subject: "alice"),
        ok("an id token of another user", HostileReply.good(["id_token": "\"\(alice)\""]), .successor)
            .expecting(subject: "bob"),
        ok(
            "an id token of another user and no refresh token",
            HostileReply.good(["id_token": "\"\(alice)\"", "refresh_token": nil]), .doubt
        ).expecting(subject: "bob"),
        ok("a scope with a quote", HostileReply.good(["scope": #""read \" write""#]), .success),
        ok("a scope of 60 000 letters", HostileReply.good(["scope": token(60_000)]), .success),
    ]

    /// {"alg":"none"}.{"iss":"https://a.example","sub":"alice"}
    private static let alice =
        "eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2EuZXhhbXBsZSIsInN1YiI6ImFsaWNlIn0.c2ln"

    private static let bound = HostileReply.good(["token_type": "\"DPoP\""])

    private static func nonce(_ status: Int, _ fields: String...) -> [HostileStep] {
        [.readRequest, .reply(status, bytes: Array(HostileReply.error("use_dpop_nonce").utf8), fields)]
    }

    /// Proofs and their nonces: at most one repeat, and five for nonces that are new.
    static let proofs: [HostileCase] = [
        HostileCase(
            proof: "asks for a nonce and takes it",
            [nonce(400, "DPoP-Nonce: one"), [.readRequest, .reply(200, bound, "DPoP-Nonce: two")]], .success,
            requests: 2),
        HostileCase(
            proof: "asks for a nonce by 401", [nonce(401, "DPoP-Nonce: one"), [.readRequest, .reply(200, bound)]],
            .success, requests: 2),
        HostileCase(
            proof: "asks for the same nonce for ever",
            [nonce(400, "DPoP-Nonce: one"), nonce(400, "DPoP-Nonce: one")], .laterInDoubt, requests: 2),
        HostileCase(
            proof: "asks for another nonce for ever",
            (1...9).map { nonce(400, "DPoP-Nonce: n\($0)") }, .laterInDoubt, requests: 6),
        HostileCase(proof: "asks for a nonce and gives none", [nonce(400)], .later, requests: 1),
        HostileCase(proof: "gives an empty nonce", [nonce(400, "DPoP-Nonce: ")], .later, requests: 1),
        HostileCase(
            proof: "gives a nonce of 8 KiB", [nonce(400, "DPoP-Nonce: " + String(repeating: "n", count: 8_192))],
            .later,
            requests: 1),
        HostileCase(
            proof: "gives two nonces", [nonce(400, "DPoP-Nonce: one", "DPoP-Nonce: two")], .later, requests: 1),
        HostileCase(
            proof: "gives a nonce with a quote", [nonce(400, "DPoP-Nonce: a\"b")], .later, requests: 1),
        HostileCase(
            proof: "spends the token and asks for a nonce",
            [nonce(400, "DPoP-Nonce: one"), [.readRequest, .reply(400, HostileReply.invalidGrant)]], .dead, requests: 2),
        HostileCase(
            proof: "refuses proofs for ever",
            [
                [.readRequest, .reply(400, HostileReply.error("invalid_dpop_proof"), "DPoP-Nonce: one")],
                [.readRequest, .reply(400, HostileReply.error("invalid_dpop_proof"), "DPoP-Nonce: two")],
            ], .proofRefused, requests: 2),
        HostileCase(
            proof: "takes the proof and gives a Bearer token", [[.readRequest, .reply(200, HostileReply.good())]],
            .successor, requests: 1),
        HostileCase(
            proof: "gives a nonce with every answer",
            [
                nonce(400, "DPoP-Nonce: one"),
                [.readRequest, .reply(200, bound, "DPoP-Nonce: " + String(repeating: "n", count: 8_192))],
            ],
            .success, requests: 2),
        HostileCase(
            proof: "takes the proof and gives two nonces",
            [[.readRequest, .reply(200, bound, "DPoP-Nonce: one", "DPoP-Nonce: two")]], .success, requests: 1),
        HostileCase(
            proof: "asks for a nonce and fails", [nonce(400, "DPoP-Nonce: one"), [.readRequest, .reply(500)]],
            .laterInDoubt, requests: 2),
        HostileCase(
            proof: "asks for a nonce and hangs up", [nonce(400, "DPoP-Nonce: one"), [.readRequest]], .doubt, requests: 2
        ),
        HostileCase(
            proof: "has a clock of 1970",
            [
                [
                    .readRequest,
                    .reply(
                        400, HostileReply.error("invalid_dpop_proof"), "Date: Thu, 01 Jan 1970 00:00:00 GMT"),
                ]
            ], .proofRefused, requests: 1),
    ]
}
