import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting
import VaultCrypto
import VaultImport
import VaultStorage

/// Puts the logins of a source into a vault, and prints what the vault exports.
struct ProbeExport {
    let reading: ImportReading
    let shape: ExportShape

    func run() async throws {
        let temporary = try await TemporaryVault(in: .memory)
        let vault = temporary.vault
        var known: Set<String> = []
        var outcomes = reading.makeAsyncIterator()
        while let outcome = try await outcomes.next() {
            guard case .login(let login) = outcome else { continue }
            if known.insert(login.provider).inserted {
                _ = try await vault.addProvider(Sample.provider(name: login.provider))
            }
            try await add(login, to: vault)
        }
        var sink = try ShapedExport(shape) { print(String(decoding: $0, as: UTF8.self), terminator: "") }
        _ = try await LoginExport(of: vault).run(into: &sink)
    }

    private func add(_ login: PlannedLogin, to vault: Vault) async throws {
        let source = login.source
        let now = Timestamp(reading.now)
        var session = SessionRecord(
            state: .established, accessToken: source.accessToken.map { SecretBytes(utf8: $0.reveal()) }, createdAt: now,
            obtainedAt: now, expiresAt: source.expiresAt.map { Timestamp($0) })
        session.subject = source.subject
        let provider = try await vault.store.provider(named: login.provider).handle
        _ = try await vault.store.insertLogin(
            LoginDraft(
                userId: source.userKey, provider: provider, session: session,
                refresh: source.refreshToken.map { RefreshRecord(refreshToken: SecretBytes(utf8: $0.reveal())) }))
    }
}
