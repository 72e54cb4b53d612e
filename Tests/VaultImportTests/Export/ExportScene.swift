import EngineSupport
import Foundation
import OAuthClient
import TestSupport
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultImport
import VaultStorage

@testable import TokenVault

/// A vault with two providers, and logins to be exported.
struct ExportScene {
    let temporary: TestVault
    let time = ManualTimeSource()

    var vault: Vault { temporary.vault }
    var now: Timestamp { vault.now }

    init(in place: TestVault.InFile.Place = .memory) async throws {
        temporary = try await TestVault(in: place, timeSource: time)
        for name in ["acme", "bravo"] { _ = try await vault.addProvider(Sample.provider(name: name)) }
    }

    /// A login that is good for an hour and can be renewed.
    func draft(_ user: String, _ name: String = "acme") async throws -> LoginDraft {
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: Sample.marker + "access-\(user)"), createdAt: now,
            obtainedAt: now, expiresAt: now.advanced(by: .seconds(3_600)))
        session.subject = "subject-\(user)"
        return LoginDraft(
            userId: user, provider: try await vault.store.provider(named: name).handle, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: Sample.marker + "refresh-\(user)")))
    }

    @discardableResult
    func add(
        _ user: String, _ provider: String = "acme", _ change: (inout LoginDraft) throws -> Void = { _ in }
    ) async throws -> LoginID {
        var draft = try await draft(user, provider)
        try change(&draft)
        return LoginID(try await vault.insert(draft).handle)
    }

    /// Exports in the clear.
    func export(
        _ shape: ExportShape = .canonical, _ options: LoginExport.Options = .init()
    ) async throws -> (text: String, summary: ExportSummary) {
        let written = Written()
        var sink = try ShapedExport(shape) { written.bytes += $0 }
        let summary = try await LoginExport(of: vault, options).run(into: &sink)
        return (String(decoding: written.bytes, as: UTF8.self), summary)
    }

    func stored(_ id: LoginID) async throws -> StoredLogin { try await vault.store.login(id.handle) }

    func auditKinds(of id: LoginID) async throws -> [String] {
        try await vault.auditRecords(after: 0, limit: 10_000).records.filter { $0.login == id }.map(\.kind)
    }
}

final class Written {
    var bytes: [UInt8] = []
}

/// What a system of somebody's own looks like.
struct ScriptedSink: ExportSink {
    struct Full: Error {}

    let name = "scripted"
    /// After so many logins it fails.
    var room = Int.max
    /// Asked about each login before it is written.
    var look: (ExportedLogin) async throws -> Void = { _ in }
    var refuses: (ExportedLogin) -> ExportRefusal? = { _ in nil }
    private(set) var written: [LoginID] = []
    private(set) var isFinished = false

    mutating func refusal(of login: ExportedLogin) -> ExportRefusal? { refuses(login) }

    mutating func write(_ login: ExportedLogin) async throws {
        guard written.count < room else { throw Full() }
        try await look(login)
        written.append(login.id)
    }

    mutating func finish() { isFinished = true }
}
