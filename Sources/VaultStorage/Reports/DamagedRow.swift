package import VaultCrypto

/// A row that cannot be opened or does not belong where it is, in a listing.
package struct DamagedRow: Sendable, Equatable {
    /// Tables whose rows can be damaged on their own. Secrets and intents are listed with their login, if it exists.
    package enum Table: String, CaseIterable, Sendable {
        case provider, user, login, loginSecret, refreshIntent, outbox, authorizationRequest, unusableReply
        case manifestPart, observer
        /// Rows outside of the trail's chain.
        case audit
        /// The engine's record of the highest fence. It is not a table, and its only row is number 1.
        case fenceCounter
    }

    /// The place of the damage.
    package enum Place: Hashable, Sendable {
        case row(Table, id: Int64)
        /// A login that its user's manifest names and that has no row.
        case missingLogin(LoginHandle, userRow: Int64)
    }

    package let place: Place
    /// `nil` if the handle cannot be read.
    package let handle: Bytes16?
    package let damage: StoreError
    /// The user that the row claims to belong to, if that can be read.
    package var user: UserHandle?
    /// Known only if the user's own row opens.
    package var userId: String?
    package var login: LoginHandle?
    package var provider: ProviderHandle?
    /// The name of ``provider``, if its row opens and the reader asked for it.
    package var providerName: String?

    package var table: Table {
        switch place {
        case .row(let table, _): table
        case .missingLogin: .login
        }
    }

    package var name: DamagedRowName {
        if let handle { return .handle(handle) }
        switch place {
        case .row(let table, let id): return .row(table, id)
        case .missingLogin(let handle, _): return .handle(handle.bytes)
        }
    }
}

/// The name of a damaged row: its handle, or its table and number, as in `outbox#17`.
package enum DamagedRowName: Hashable, Sendable, LosslessStringConvertible {
    case handle(Bytes16)
    case row(DamagedRow.Table, Int64)

    package init?(_ description: String) {
        if let bytes = Base32.decode(description) {
            self = .handle(bytes)
            return
        }
        let parts = description.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, let table = DamagedRow.Table(rawValue: String(parts[0])), let id = Int64(parts[1])
        else {
            return nil
        }
        self = .row(table, id)
    }

    package var description: String {
        switch self {
        case .handle(let bytes): Base32.encode(bytes)
        case .row(let table, let id): "\(table.rawValue)#\(id)"
        }
    }
}

/// A damaged row with everything that the file holds of it and of the rows that depend on it.
package struct DamagedRowContent: Sendable, Equatable {
    package var row: DamagedRow
    /// The rows, the damaged one first. Empty for a login that has no row.
    package let rows: [RawRow]

    package var hash: [UInt8] { RawRow.hash(of: rows) }

    /// Logins that are discarded with it, itself included.
    package var loginCount: Int {
        row.table == .login ? 1 : rows.count { $0.table == DamagedRow.Table.login.rawValue }
    }
}

/// The result of discarding a row.
package struct DiscardedRow: Sendable, Equatable {
    package var row: DamagedRow
    package let rowCount: Int
    /// The hash that the audit trail records. See ``RawRow/hash(of:)``.
    package let hash: [UInt8]
    /// The logins that were discarded with it.
    package let logins: [LoginHandle]
}

extension StoreError {
    /// Whether the error concerns one row, and nothing else in the vault.
    package var isOfRow: Bool {
        if case .quarantined = code { true } else { false }
    }

    static func isWhole(_ name: DamagedRowName) -> StoreError {
        if case .row(.audit, _) = name {
            return StoreError(
                .conflict, "the row \(name) is in the audit log's chain, and cannot be discarded",
                hint: "whether it was changed: `vaultctl audit verify`")
        }
        return StoreError(.conflict, "the row \(name) opens: it is not damaged", hint: "see `vaultctl damage list`")
    }
}
