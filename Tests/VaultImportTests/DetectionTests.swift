import Foundation
import TestSupport
import Testing

@testable import VaultImport

struct DetectionTests {
    private static let servers = [
        "CREATE TABLE oauth2_provider_accesstoken (id, token, expires, scope, application_id, user_id)",
        "CREATE TABLE oauth2_authorization (id, registered_client_id, principal_name, authorization_grant_type, access_token_value, refresh_token_value)",
        "CREATE TABLE token (id, client_id, token_type, access_token, refresh_token, scope, issued_at, access_token_revoked_at, refresh_token_revoked_at, expires_in, user_id)",
        "CREATE TABLE oauth2_token (id, user_id, client_id, access_token, refresh_token, revoked, issued_at, expires_in)",
        "CREATE TABLE offline_client_session (user_session_id, client_id, offline_flag, timestamp, data)",
        "CREATE TABLE hydra_oauth2_refresh (signature, request_id, client_id, session_data)",
        "CREATE TABLE oauthAccessToken (id, accessToken, refreshToken, accessTokenExpiresAt, clientId, userId, scopes)",
    ]

    @Test(arguments: servers)
    func theStoreOfAnAuthorizationServerIsRefusedByName(_ table: String) throws {
        let sample = try SampleDatabase(table)
        let error = #expect(throws: ImportError.self) { try ImportSource(path: sample.path) }
        #expect(error?.code == .serverStore)
        let name = try #require(table.split(separator: " ").dropFirst(2).first)
        #expect(error?.message.contains(name) == true)
    }

    @Test func aServersTablesBesideAClientsAreLeftAlone() async throws {
        let sample = try SampleDatabase(Self.servers[0], SampleDatabase.accounts, SampleDatabase.account(1))
        let source = try ImportSource(path: sample.path)
        #expect(source.detection.kind == .authJS)
        #expect(source.detection.evidence.contains { $0.contains("left alone") })
    }

    @Test func twoStoresInOneFileWantAName() throws {
        let sample = try SampleDatabase(SampleDatabase.accounts, "CREATE TABLE mine (user, provider, access_token)")
        let error = #expect(throws: ImportError.self) { try ImportSource(path: sample.path) }
        #expect(error?.code == .severalStores)
        #expect(try ImportSource(path: sample.path, plan: ImportPlan(kind: .canonical)).detection.table == "mine")
    }

    private static let strangers: [(String, String)] = [
        ("PGDMP\u{1}", "unknownFormat"), ("", "unknownFormat"), ("   \n", "unknownFormat"),
        ("[{}]", "unknownFormat"),
        ("hello", "unknownFormat"), ("a,b\n", "unknownStore"), ("{}\n", "unknownStore"), ("{\n}\n", "unknownStore"),
        ("{\"a\":1}\n", "unknownStore"), ("SQLite format 3\0", "unknownFormat"), ("-- dump\n", "unknownStore"),
    ]

    @Test(arguments: strangers)
    func whatIsNoStoreIsRefused(_ text: String, _ code: String) {
        let error = #expect(throws: ImportError.self) { try ImportSource(bytes: Array(text.utf8)) }
        #expect(error?.code.name == code, "\(text)")
        #expect(error?.description.isEmpty == false)
    }

    @Test(
        arguments: [
            [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], Array("BZh91AY".utf8),
            Array("PK\u{3}\u{4}".utf8),
            [0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0],
        ] as [[UInt8]])
    func packedFilesAreRefusedWithAHint(_ bytes: [UInt8]) {
        let error = #expect(throws: ImportError.self) { try ImportSource(bytes: bytes) }
        #expect(error?.code == .unknownFormat)
        #expect(error?.hint != nil)
    }

    /// Neither waited for nor read twice.
    @Test func whatIsNotAFileIsRefused() throws {
        let directory = try PrivateDirectory()
        let pipe = directory.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/null", directory.path] {
            let error = #expect(throws: ImportError.self) { try ImportSource(path: path) }
            #expect(error?.code == .unreadableFile && error?.hint?.contains("save it in a file") == true, "\(path)")
        }
    }

    @Test func aUserKeyThatIsNotThereIsOneError() throws {
        let sample = try SampleDatabase(SampleDatabase.accounts)
        let error = #expect(throws: ImportError.self) {
            try ImportSource(path: sample.path, plan: ImportPlan(userKey: .email))
        }
        #expect(error?.code == .unfitPlan)
        let other = #expect(throws: ImportError.self) {
            try ImportSource(path: sample.path, plan: ImportPlan(userTable: "people"))
        }
        #expect(other?.code == .unfitPlan)
    }

    @Test func tokensOfAllauthWithoutTheirAccountsAreNoStore() throws {
        let sample = try SampleDatabase(
            "CREATE TABLE socialaccount_socialtoken (id, token, token_secret, expires_at, account_id, app_id)")
        #expect(throws: ImportError.self) { try ImportSource(path: sample.path) }
    }

    @Test func rowsThatAQueryHasJoinedAreAllauthsToo() async throws {
        let row =
            #"{"id":5,"token":"t","token_secret":"r","expires_at":"2027-01-15T09:00:00+00:00","provider":"google","uid":"s","user_id":7,"client_id":"c","email":"a@example.com"}"#
        let source = try ImportSource(bytes: Array(row.utf8), plan: ImportPlan(userKey: .email))
        #expect(source.detection.kind == .allauth)
        let login = try #require(try await outcomes(source).first?.login?.source)
        #expect(login.userKey == "a@example.com")
        #expect(login.clientID?.rawValue == "c")
        #expect(login.refreshToken?.reveal() == "r")
    }
}
