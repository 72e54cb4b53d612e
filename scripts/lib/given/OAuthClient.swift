// What the doc comments of OAuthClient take for granted.

import HTTPTypes
import OAuthClient

func given<T>() -> T { fatalError("only compiled") }

let response: HTTPResponse = given()
let bytes: [UInt8] = []
let configuration: OAuthClientConfiguration = given()
let transport: any HTTPTransport = given()
let code: AuthorizationCode = given()
let verifier: CodeVerifier = given()
// Of TokenVault's, which gives claims out.
let done = Done()

struct Done: Sendable {
    let claims: IDTokenClaims? = nil
}

func keep(_ tokens: SuccessfulTokenResponse) {}
func log(_ text: String) {}
