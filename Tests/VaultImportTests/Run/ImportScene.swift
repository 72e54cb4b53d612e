import EngineSupport
import Foundation
import OAuthClient
import TestSupport
import TokenVault
import TokenVaultTesting
import VaultAdministration

@testable import VaultImport

/// A vault with one provider, and a source in memory.
struct ImportScene {
    let temporary: TestVault
    let time = ManualTimeSource()
    let transport = ScriptedTransport()
    let users: UserManager

    var vault: Vault { temporary.vault }

    init(provider: ProviderRegistration? = nil) async throws {
        temporary = try await TestVault(in: .memory, timeSource: time)
        try await temporary.vault.addProvider(provider ?? Sample.provider())
        users = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
    }

    /// Reads a text to its end.
    @discardableResult
    func run(
        _ text: String, _ purpose: ImportRunOptions.Purpose = .hold, plan: ImportPlan = ImportPlan(),
        isRehearsal: Bool = false, name: String? = "web"
    ) async throws -> (rows: [ImportedRow], result: ImportResult) {
        let source = try ImportSource(bytes: Array(text.utf8), plan: plan)
        let options = ImportRunOptions(name: name, purpose: purpose, isRehearsal: isRehearsal)
        var run = ImportRun(source, into: vault, options: options).makeAsyncIterator()
        var rows: [ImportedRow] = []
        while let row = try await run.next() { rows.append(row) }
        return (rows, run.result)
    }

    /// Two readings that find nothing new, far enough apart.
    func prove(_ text: String) async throws {
        try await run(text)
        time.advance(by: .seconds(60))
        try await run(text)
    }

    func login(_ user: String = "u1") async throws -> Login {
        let entries = try await vault.logins(ofUser: user)
        guard case .login(let login)? = entries.first, entries.count == 1 else { throw Missing() }
        return login
    }

    struct Missing: Error {}
}

/// A row of a source, in the canonical form.
struct SampleRow {
    var user = "u1"
    var subject: String? = "s1"
    var access = "a1"
    var refresh: String? = "r1"
    /// Seconds after the moment of all tests.
    var expires: Int? = 3_600
    var provider = "acme"
    var more = ""

    var text: String {
        var members = [#""user":"\#(user)""#, #""provider":"\#(provider)""#, #""access_token":"\#(access)""#]
        if let subject { members.append(#""subject":"\#(subject)""#) }
        if let refresh { members.append(#""refresh_token":"\#(refresh)""#) }
        if let expires { members.append(#""expires_at":\#(1_800_000_000 + expires)"#) }
        if !more.isEmpty { members.append(more) }
        return "{" + members.joined(separator: ",") + "}\n"
    }

    func with(_ change: (inout SampleRow) -> Void) -> SampleRow {
        var row = self
        change(&row)
        return row
    }
}

/// The code of the error that `body` throws; nil if it throws none.
func code<R>(of body: () async throws -> R) async -> VaultError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? VaultError)?.code
    }
}
