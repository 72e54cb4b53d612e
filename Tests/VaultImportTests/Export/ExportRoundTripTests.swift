import EngineSupport
import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultImport
import VaultStorage

@testable import TokenVault

/// What the importer reads of an export is what the vault had.
@Suite(.tags(.everyEngine))
struct ExportRoundTripTests {
    private let scene: ExportScene

    init() async throws { scene = try await ExportScene() }

    private static let odd = Array("aZ09 '\"\\;-_.~%,:{}[]<>|`$&").map(String.init)

    private static func text(
        _ length: ClosedRange<Int>, _ alphabet: [String], _ random: inout SeededGenerator
    ) -> String {
        (0..<Int.random(in: length, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" }.joined()
    }

    /// Nil half of the time.
    private static func maybe<T>(_ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> T) -> T? {
        Bool.random(using: &random) ? make(&random) : nil
    }

    private func add(_ number: Int, _ random: inout SeededGenerator) async throws {
        let names = Self.odd + ["é", "日", "\u{2028}", "\n", "\t", "\u{7F}", "𝄞"]
        let user = "\(number)" + Self.text(0...12, names, &random)
        let moment = { (random: inout SeededGenerator) in
            Timestamp(milliseconds: scene.now.milliseconds + Int64.random(in: 60_000...4_000_000_000, using: &random))
        }
        let now = scene.now
        var session = SessionRecord(
            state: .established, createdAt: now,
            obtainedAt: Timestamp(milliseconds: now.milliseconds - Int64.random(in: 0...99_999_999, using: &random)))
        session.subject = Self.maybe(&random) { "s\(number)" + Self.text(0...12, names, &$0) }
        if number % 8 == 3 { session.resource = "https://api\(number).example/mcp" }
        session.label = Self.maybe(&random) { Self.text(1...12, names, &$0) }
        session.scope = Self.maybe(&random) { "a\(Self.text(0...3, ["b", "/", ":"], &$0)) read" }
        session.expiresAt = Self.maybe(&random, moment)
        session.attributes = Self.maybe(&random) { ["instance_url": Self.text(1...20, names, &$0), "é": "x"] } ?? [:]
        let isRefreshable = Bool.random(using: &random)
        if !isRefreshable || Bool.random(using: &random) {
            session.accessToken = SecretBytes(utf8: "a\(number)" + Self.text(0...40, Self.odd, &random))
        }
        var refresh: RefreshRecord?
        if isRefreshable {
            refresh = RefreshRecord(
                refreshToken: SecretBytes(utf8: "r\(number)" + Self.text(0...40, Self.odd, &random)),
                refreshExpiresAt: Self.maybe(&random, moment),
                idToken: Self.maybe(&random) { _ in
                    let claims = Base64URL.encode(#"{"sub":"\#(number)"}"#.utf8)
                    return SecretBytes(utf8: "e30.\(claims).c2ln")
                })
        }
        var key: KeyRecord?
        if Int.random(in: 0..<4, using: &random) == 0 {
            session.tokenType = "DPoP"
            key = KeyRecord(dpopPrivateKey: SecretBytes(copying: DPoPKey.generate().revealRawRepresentation()))
        }
        let provider = try await scene.vault.store.provider(named: Bool.random(using: &random) ? "acme" : "bravo")
            .handle
        _ = try await scene.vault.insert(
            LoginDraft(userId: user, provider: provider, session: session, refresh: refresh, key: key))
    }

    /// What the vault has, by the login's id.
    private func logins() async throws -> [String: ExportedLogin] {
        var found: [String: ExportedLogin] = [:]
        let page = try await scene.vault.loginsToExport(ofUser: nil, provider: nil, after: nil, limit: 10_000)
        for case .login(let login) in page.candidates {
            found[login.stored.handle.text] = ExportedLogin(login)
        }
        return found
    }

    private func read(_ text: String, _ plan: ImportPlan = ImportPlan()) async throws -> [SourceLogin] {
        try await read(ImportSource(bytes: Array(text.utf8), plan: plan))
    }

    private func read(_ source: ImportSource) async throws -> [SourceLogin] {
        var logins: [SourceLogin] = []
        for try await row in source {
            if case .login(let login) = row {
                logins.append(login)
            } else if case .registration = row {
            } else {
                Issue.record("\(row)")
            }
        }
        return logins
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func everythingComesBackInTheCanonicalForm(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for number in 0..<120 { try await add(number, &random) }
        let expected = try await logins()
        let (text, summary) = try await scene.export(.canonical, .init(owner: .vault))
        #expect(summary.exported == 120 && text.split(separator: "\n").count == 120)
        let found = try await read(text, ImportPlan(isStrict: true))
        #expect(found.count == 120)
        for login in found {
            let key = try #require(login.place.key)
            let source = try #require(expected[key])
            #expect(login.userKey == source.userId && login.provider == source.provider)
            #expect(login.clientID == source.clientID && login.label == source.label)
            #expect(login.resource == source.resource)
            // Where the vault knows none, it is the id token's.
            #expect(login.subject == source.subject || source.subject == nil && login.idToken != nil)
            #expect(login.accessToken == source.accessToken && login.refreshToken == source.refreshToken)
            #expect(
                login.tokenType == source.tokenType && login.scope == source.scope && login.idToken == source.idToken)
            #expect(login.expiresAt == source.expiresAt && login.refreshExpiresAt == source.refreshExpiresAt)
            #expect(login.obtainedAt == source.obtainedAt && login.attributes == source.attributes)
            #expect(login.dpopKey?.thumbprint == source.dpopKey?.thumbprint)
            #expect(login.dpopKey?.revealRawRepresentation() == source.dpopKey?.revealRawRepresentation())
            let usual: Set<ImportWarning> = [.subjectDiffers, .tokenWithOddEnds]
            #expect(login.warnings.allSatisfy(usual.contains), "\(login.warnings)")
        }
    }

    @Test func connectionsOfNangoComeBack() async throws {
        var random = SeededGenerator(seed: 5)
        for number in 0..<120 { try await add(number, &random) }
        let expected = try await logins().values
        let (text, summary) = try await scene.export(.nango, .init(owner: .vault))
        let found = try await read(text, ImportPlan(kind: .nango))
        #expect(found.count == summary.exported && found.count > 20)
        for login in found {
            let source = try #require(expected.first { $0.userId == login.userKey && $0.provider == login.provider })
            #expect(login.accessToken == source.accessToken && login.refreshToken == source.refreshToken)
            #expect(login.expiresAt == source.expiresAt && source.dpopKey == nil)
        }
        #expect(Set(summary.reasons.keys) == [.keyBound, .noAccessToken, .resourceBound])
    }

    private static let tables: [ExportShape: [String]] = [
        .allauth: [
            "CREATE TABLE socialaccount_socialaccount (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, provider"
                + " VARCHAR(200) NOT NULL, uid VARCHAR(191) NOT NULL, last_login DATETIME NOT NULL, date_joined DATETIME"
                + " NOT NULL, extra_data TEXT NOT NULL, UNIQUE (provider, uid))",
            "CREATE TABLE socialaccount_socialtoken (id INTEGER PRIMARY KEY, token TEXT NOT NULL, token_secret TEXT NOT"
                + " NULL, expires_at DATETIME, account_id INTEGER NOT NULL, app_id INTEGER, UNIQUE (app_id, account_id))",
            "CREATE TABLE socialaccount_socialapp (id INTEGER PRIMARY KEY, provider, provider_id, name, client_id, secret)",
            "INSERT INTO socialaccount_socialapp VALUES (7, 'acme', '', 'Acme', 'client-1', '')",
        ],
        .authJS: [
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, \"userId\" TEXT NOT NULL, type VARCHAR(255) NOT NULL, provider"
                + " VARCHAR(255) NOT NULL, \"providerAccountId\" VARCHAR(255) NOT NULL, refresh_token TEXT, access_token"
                + " TEXT, expires_at BIGINT, id_token TEXT, scope TEXT, session_state TEXT, token_type TEXT)"
        ],
        .springSecurity: [
            "CREATE TABLE oauth2_authorized_client (client_registration_id VARCHAR(100) NOT NULL, principal_name"
                + " VARCHAR(200) NOT NULL, access_token_type VARCHAR(100) NOT NULL, access_token_value BLOB NOT NULL,"
                + " access_token_issued_at TIMESTAMP NOT NULL, access_token_expires_at TIMESTAMP NOT NULL,"
                + " access_token_scopes VARCHAR(1000), refresh_token_value BLOB, refresh_token_issued_at TIMESTAMP,"
                + " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL,"
                + " PRIMARY KEY (client_registration_id, principal_name))"
        ],
    ]

    /// SQL is run, twice, in tables as the products make them.
    @Test(arguments: [ExportShape.allauth, .authJS, .springSecurity])
    func rowsOfTablesComeBack(_ shape: ExportShape) async throws {
        var random = SeededGenerator(seed: 6)
        for number in 0..<120 { try await add(number, &random) }
        let expected = try await logins().values
        let (text, summary) = try await scene.export(shape, .init(owner: .vault))
        let directory = try PrivateDirectory()
        let path = directory.file("target.sqlite3")
        try FileBytes.write([], to: path)
        let connection = try RawConnection(path)
        for statement in try #require(Self.tables[shape]) { try connection.execute(statement) }
        try connection.execute(text)
        try connection.execute(text)
        let found = try await read(try ImportSource(path: path))
        #expect(found.count == summary.exported && found.count > 20)
        for login in found {
            let source = try #require(expected.first { $0.userId == login.userKey && $0.provider == login.provider })
            #expect(login.accessToken == source.accessToken && login.refreshToken == source.refreshToken)
            #expect(source.dpopKey == nil)
            let expiry = source.expiresAt.map {
                shape == .authJS ? Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down)) : $0
            }
            #expect(login.expiresAt == expiry)
            switch shape {
            case .allauth: #expect(login.subject == source.subject && login.clientID?.rawValue == "client-1")
            case .authJS:
                #expect(
                    login.subject == source.subject && login.scope == source.scope && login.idToken == source.idToken)
            default: #expect(login.scope == source.scope)
            }
        }
        #expect(summary.reasons[.keyBound] ?? 0 > 0 && summary.reasons[.resourceBound] == 15)
    }
}
