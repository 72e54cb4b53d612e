import TokenVault
import VaultAdministration
import VaultImport

/// The sources from which logins of this vault were imported.
struct KnownSources {
    private let status: [ImportStatus]

    init(of vault: Vault) async throws { status = try await vault.importStatus() }

    /// Warns of a name that is new beside others: a misspelt one makes an old copy of a source look like a new source.
    static func warn(ofNew name: String, in vault: Vault, _ invocation: Invocation) async throws {
        // Most runs repeat one that brought something lately, and need not read every login for that.
        guard try await !vault.readings(of: name, limit: 10).contains(where: { $0.changes > 0 }) else { return }
        let known = try await KnownSources(of: vault)
        let isBeside = known.status.contains { tenant(of: $0.source) == tenant(of: name) }
        guard isBeside, !known.contains(name) else { return }
        invocation.warn("\(known.words(name)); \(known.advice(name))")
    }

    /// The tenant's name at the beginning of a source's.
    private static func tenant(of source: String) -> Substring? {
        source.lastIndex(of: "/").map { source[..<$0] }
    }

    func contains(_ name: String) -> Bool { status.contains { $0.source == name } }

    /// The number of the vault's logins that came from the source, with those that the vault owns now.
    func logins(_ name: String) -> Int {
        held(name) + contested(name) + sum(\.accepted, name, nil)
    }

    /// The number of logins that the source still owns.
    func held(_ name: String, at provider: String? = nil) -> Int { sum(\.held, name, provider) }

    func contested(_ name: String, at provider: String? = nil) -> Int { sum(\.contested, name, provider) }

    /// The number of those that the last complete reading did not find.
    func missing(_ name: String, at provider: String? = nil) -> Int { sum(\.missing, name, provider) }

    private func sum(_ count: (ImportStatus) -> Int, _ name: String, _ provider: String?) -> Int {
        status.filter { $0.source == name && (provider == nil || $0.provider == provider) }
            .reduce(0) { $0 + count($1) }
    }

    /// Refuses a name that no source has: nothing would be found, as if there were nothing to do.
    func require(_ name: String, in vault: Vault) async throws {
        guard !contains(name) else { return }
        // A reading whose rows were all rejected brought none.
        guard try await !vault.readings(of: name, limit: .max).contains(where: { $0.added > 0 }) else {
            throw Failure(
                .notFound, code: "unknownSource",
                "no login of this vault comes from the source \(Printable.named(name)) any longer",
                hints: [
                    "those that it had have ended here, or their users are gone; vaultctl import run would add its rows again",
                    "what became of them: vaultctl audit list",
                ])
        }
        throw Failure(.notFound, code: "unknownSource", words(name), hints: [advice(name)])
    }

    func words(_ name: String) -> String {
        "no login of this vault was imported from a source named \(Printable.named(name))"
    }

    func advice(_ name: String) -> String {
        var names: [String] = []
        for source in status.map(\.source) where !names.contains(source) { names.append(source) }
        if let tenants = names.first(where: { $0.hasSuffix("/\(name)") }) {
            return "if it is a tenant's: --tenant \(Printable.shortened(String(tenants.dropLast(name.count + 1))))"
        }
        guard !names.isEmpty else { return "take its logins over first: vaultctl import run SOURCE --name NAME" }
        return "the sources are: \(Printable.list(names))"
            + (names.count > 8 ? "; all of them: vaultctl import status" : "")
    }
}
