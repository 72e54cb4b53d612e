// What the pages take for granted, for scripts/swift-blocks. Nothing of it is ever run.

import Foundation
import Logging
import ServiceLifecycle
import TokenVault
import TokenVaultHTTP

func given<T>() -> T { fatalError("only compiled") }

let vault: Vault = given()
let users: UserManager = given()
let login: Login = given()
let transport: AsyncHTTPTransport = given()
let path = ""
let newSecret: ClientSecret = given()

// A service, its sessions and its log.
let server: any Service = given()
let logger: Logger = given()
let session: Session = given()
let callbackURL = ""
let url = ""
let cookie = ""
func log(_ text: String) {}

struct Session {
    var userId = "alice"
}

// A log-in that is done, and a request to an API.
let done: CompletedLogIn = given()
nonisolated(unsafe) var request: HTTPRequest = given()
func send(_ request: HTTPRequest) async throws -> HTTPResponse { given() }

func show(_ code: String, at place: String) {}

// The app that hears of events.
func askToLogIn(_ user: String, _ reason: RefreshFailure.Reason) {}
func lookAgain() {}
let saved: EventCursor? = given()
func save(_ cursor: EventCursor) async throws {}

// Its own server, mail and secrets.
let ourServer = OurServer()
let mail = Mail()
let client = SecretsClient()

struct OurServer: Sendable {
    func authToken(for user: String) async throws -> AuthToken { given() }
    func newToken(for user: String) async throws -> (value: AccessToken, end: Date)? { given() }
}

struct Mail: Sendable {
    func askToLogInAgain(_ user: String) async {}
    func withdraw(_ user: String) async {}
}

struct SecretsClient: Sendable {
    func secret(_ name: String) async throws -> String { given() }
}

struct Database: Sendable {
    func queueMail(to user: String) async throws {}
    func dropMail(to user: String) async throws {}
    func set(_ key: String, _ value: String) async throws {}
    func get(_ key: String) async throws -> String? { nil }
}
let mailer: any LoginObserver = given()
