import VaultCrypto

/// A witness's record of a vault, apart from it: the end of its audit trail at some time.
///
/// The text can be mailed and printed. `docs/vault-format.md` describes it.
package struct WitnessNote: Hashable, Sendable {
    package let position: AuditPosition
    package let incarnation: Int64

    package init(position: AuditPosition, incarnation: Int64) {
        self.position = position
        self.incarnation = incarnation
    }

    package func isNewer(than other: WitnessNote) -> Bool {
        (other.incarnation, other.position.sequence) < (incarnation, position.sequence)
    }

    private static let dash = "\u{2014} "

    private static func title(_ vault: Bytes16) -> String { "tokenvault/\(Base32.encode(vault))/witness" }

    private func statement(_ vault: Bytes16) -> String {
        """
        \(Self.title(vault))
        \(position.sequence)
        \(Base64.encode(position.link.array))
        incarnation \(incarnation)

        """
    }

    package func text(_ context: VaultContext) -> String {
        let statement = statement(context.vaultID)
        return statement + "\n" + Self.dash + Base64.encode(mac(statement, context).array) + "\n"
    }

    /// Whether these bytes appear to be a note, of any vault.
    package static func isNote(_ bytes: some Sequence<UInt8>) -> Bool {
        let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        return line.hasPrefix("tokenvault/") && line.hasSuffix("/witness")
    }

    /// Whether this text appears to be a note of this vault.
    package static func isNote(_ text: String, of context: VaultContext) -> Bool {
        text.hasPrefix(title(context.vaultID) + "\n")
    }

    private func mac(_ statement: String, _ context: VaultContext) -> Bytes16 {
        context.keyring.witnessMAC(of: Array(statement.utf8), upTo: position.sequence)
    }

    /// Refuses any text except a note of this vault.
    package init(_ text: String, _ context: VaultContext) throws(StoreError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 7, lines[4].isEmpty, lines[6].isEmpty, lines[5].hasPrefix(Self.dash),
            lines[3].hasPrefix("incarnation "), let sequence = Int64(lines[1]), sequence >= 0,
            let incarnation = Int64(lines[3].dropFirst("incarnation ".count)),
            let bytes = Base64.decode(lines[2]), let link = unsafe bytes.withUnsafeBytes({ unsafe AuditMAC($0) })
        else {
            // A file that is something else is not replaced.
            let isNote = Self.isNote(text.utf8)
            throw Self.refused(
                "it is not a witness's note",
                "check --witness; restore the note from its copy, or \(isNote ? "" : "move this file away and ")start again: "
                    + "`vaultctl witness accept`")
        }
        self.init(position: AuditPosition(sequence: sequence, link: link), incarnation: incarnation)
        guard lines[0] == Self.title(context.vaultID) else {
            throw Self.refused("it belongs to another vault", "name the witness of this vault: --witness PATH")
        }
        let mac = Base64.encode(mac(statement(context.vaultID), context).array)
        guard lines[5] == Self.dash + mac, text == self.text(context) else {
            throw Self.refused(
                "it was changed, or written under keys that this vault does not have",
                "find out who has written to it; then: `vaultctl witness accept`")
        }
    }

    private static func refused(_ reason: String, _ hint: String) -> StoreError {
        StoreError(
            .rollbackSuspected, "the witness says nothing about this vault: \(reason)", hint: hint)
    }
}
