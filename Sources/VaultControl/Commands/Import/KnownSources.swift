import TokenVault
import VaultImport

/// The sources from which logins of this vault were imported.
struct KnownSources {
    private let names: [String]

    init(of vault: Vault) async throws {
        var names: [String] = []
        for status in try await vault.importStatus() where !names.contains(status.source) {
            names.append(status.source)
        }
        self.names = names
    }

    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Refuses a name that no source has: nothing would be found, as if there were nothing to do.
    func require(_ name: String) throws(Failure) {
        guard !contains(name) else { return }
        throw Failure(.notFound, code: "unknownSource", words(name), hints: [advice(name)])
    }

    func words(_ name: String) -> String {
        "no login of this vault was imported from a source named \(Printable.named(name))"
    }

    func advice(_ name: String) -> String {
        if let tenants = names.first(where: { $0.hasSuffix("/\(name)") }) {
            return "if it is a tenant's: --tenant \(Printable.shortened(String(tenants.dropLast(name.count + 1))))"
        }
        guard !names.isEmpty else { return "take its logins over first: vaultctl import run SOURCE --name NAME" }
        let shown = names.prefix(8).map { Printable.shortened($0) }.joined(separator: ", ")
        return "the sources are: \(shown)\(names.count > 8 ? ", …; all of them: vaultctl import status" : "")"
    }
}
