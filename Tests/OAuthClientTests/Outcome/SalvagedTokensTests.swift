import OAuthClient
import Testing

/// Refresh tokens are found in what is left of a reply, and nothing else is taken for one.
struct SalvagedTokensTests {
    @Test(arguments: [
        (#"{"refresh_token":"abc","access"#, ["abc"]),
        (#"{"refresh_token" : "abc"}"#, ["abc"]),
        (#"<html>{"a":1,"refreshToken":"abc"}"#, ["abc"]),
        (#"{"refresh_token":"a\/b"}"#, ["a/b"]),
        (#"{"refresh_token":"abc","refresh_token":"def"}"#, ["abc", "def"]),
        (#"{"refresh_token":"abc","x":{"refresh_token":"abc"}}"#, ["abc"]),
        ("access_token=x&refresh_token=abc&scope=y", ["abc"]),
        // Cut in the middle of the token, escaped, empty, of another type, or not there.
        (#"{"refresh_token":"ab"#, []), (#"{"refresh_token":"a\u0062c"}"#, []), (#"{"refresh_token":""}"#, []),
        (#"{"refresh_token":17}"#, []), (#"{"refresh_token":null}"#, []), (#"{"access_token":"abc"}"#, []),
        ("refresh_token", []), ("", []), (#"{"refresh_token_expires_in":"3600"}"#, []),
        ("refresh_token=a%2Fb", []),
    ])
    func whatCanBeRead(_ body: String, _ expected: [String]) {
        let found = SalvagedTokens.find(in: Array(body.utf8), isComplete: true)
        #expect(found.map { $0.reveal() } == expected)
    }

    @Test func theEndOfABodyThatWasCutShortIsNoToken() {
        let body = Array("access_token=x&refresh_token=abc".utf8)
        #expect(SalvagedTokens.find(in: body, isComplete: false).isEmpty)
        #expect(SalvagedTokens.find(in: body, isComplete: true).count == 1)
    }
}
