// alice's account, which the blocks take for granted: a vault in which she is logged in at acme.

import Foundation
public import OAuthClient
import Synchronization
public import TokenVault
public import TokenVaultHTTP

/// Made anew for each block, in a folder of its own.
public final class Home: Sendable {
    public let vault: Vault
    public let users: UserManager
    public let transport: AsyncHTTPTransport
    private let account: Mutex<Login>
    private static let made = Mutex<Home?>(nil)

    /// alice's login, unless a block has replaced it.
    public var login: Login {
        get { account.withLock { $0 } }
        set { account.withLock { $0 = newValue } }
    }

    public static var current: Home {
        guard let home = made.withLock({ $0 }) else { preconditionFailure("Home.prepare was not called") }
        return home
    }

    /// - Parameter createsVault: Whether the block makes the vault of the pages itself; then alice's is elsewhere.
    @discardableResult
    public static func prepare(createsVault: Bool) async throws -> Home {
        for folder in ["etc/app", "var/lib/app", "mnt/backup"] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let key = "etc/app/vault.key"
        try KeyFiles.generate(at: key)
        let home = try await Home(vaultAt: createsVault ? "alice.vault" : "var/lib/app/tokens.vault", key: key)
        if createsVault { try FileManager.default.removeItem(atPath: key) }
        made.withLock { $0 = home }
        return home
    }

    private init(vaultAt path: String, key: String) async throws {
        transport = AsyncHTTPTransport(inWorld: .init())
        vault = try await Vault.create(at: path, unlockedBy: .keyFile(key))
        users = try await UserManager(vault: vault, transport: transport)
        for (name, issuer) in [
            ("acme", "https://login.acme.example"), ("billing", "https://login.billing.example"),
            ("google", "https://login.google.example"),
        ] {
            try await users.addProvider(
                name, issuer: issuer, clientID: "demo-basic",
                authentication: .clientSecretBasic(ClientSecret("demo-basic-secret")),
                scope: name == "acme" ? "openid profile offline_access calendar.read" : "read",
                redirectURI: "https://app.example/callback" + (name == "acme" ? "" : "/\(name)"))
        }
        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        try await Browser.follow(begun.url, cookie: begun.binding.reveal())
        account = Mutex(try await users.completeLogIn(.url(Browser.callback), boundTo: begun.binding).login)
    }
}
