import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

/// The selected damaged row.
struct DamagedRowSelection: ParsableArguments {
    @Argument(help: .init("The row, as vaultctl damage list names it, or its beginning.", valueName: "row"))
    var row: String

    /// Refuses text that cannot start a row's name, before anything is opened.
    func check() throws(Failure) { try Self.check(row) }

    static func check(_ row: String) throws(Failure) {
        guard DamagedRowName(row) == nil, (ShortID.normal(row)?.count ?? 0) < ShortID.least else { return }
        throw .usage(
            "\(Printable.named(row)) is not a row: expected 26 letters and digits, the first \(ShortID.least) or more, or "
                + "a table and a number such as audit#5",
            hint: "list all damaged rows: vaultctl damage list")
    }

    /// What the file holds of the row, if its page can be read.
    static func content(of id: DamagedRowName, in vault: Vault) async throws -> DamagedRowContent {
        do {
            return try await vault.damagedRow(id)
        } catch let error as VaultError where error.code == .damaged && error.message.hasPrefix("the vault file ") {
            throw Failure(
                error.code, "the page of \(id) cannot be read: \(error.message)",
                hints: ["restore a backup: vaultctl backup restore BACKUP TARGET"])
        }
    }

    func id(in vault: Vault) async throws -> DamagedRowName { try await Self.id(row, in: vault) }

    static func id(_ text: String, in vault: Vault) async throws -> DamagedRowName {
        if let id = DamagedRowName(text) { return id }
        return try ShortID.find(
            text, among: try await vault.damage(limit: 1_000).map(\.name), noun: "damaged row",
            list: "vaultctl damage list", missing: .unknownRow, id: { $0.description })
    }
}
