// What the doc comments of OAuthClient take for granted.

import BlockWorld
import Foundation
import HTTPTypes
import OAuthClient
import TokenVaultHTTP

/// Alice's browser is at the callback, and the app holds the code and its verifier.
public func prepare(createsVault: Bool) async throws {
    try Certificates.writeClient()
    try await Browser.getCode(for: "demo", verifier)
}

let transport: any HTTPTransport = AsyncHTTPTransport(inWorld: .init())

let configuration = made {
    try OAuthClientConfiguration(
        clientID: ClientID("demo"), tokenEndpoint: EndpointURL("https://login.acme.example/token"),
        redirectURI: RedirectURI("https://app.example/callback"))
}

let verifier = CodeVerifier.random()
var code: AuthorizationCode { made { try AuthorizationCode(Browser.code) } }

let response = HTTPResponse(
    status: .unauthorized, headerFields: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#])
let bytes = Array(
    #"{"profile": 1, "name": "acme", "source": [{"url": "https://acme.example/docs", "read": "2026-11-01"}]}"#.utf8)
// Of TokenVault's, which gives claims out.
let done = Done()

struct Done: Sendable {
    let claims: IDTokenClaims? = nil
}

func keep(_ tokens: SuccessfulTokenResponse) { Heard.note("keep") }
func log(_ text: String) { Heard.note("log") }
