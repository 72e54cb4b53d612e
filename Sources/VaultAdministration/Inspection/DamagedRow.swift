package import TokenVault
import VaultStorage

/// A row of the vault that cannot be opened. It affects nothing else, and is kept until it is discarded.
///
/// Everything in it except ``problem`` and ``userId`` is what the file claims, and no claim of a damaged row is
/// authenticated.
package struct DamagedRow: Sendable, Equatable, Identifiable {
    /// The row's name: its random handle, 26 lower-case base32 characters, or its table and its number there, as in
    /// `outbox#17`, if the handle cannot be read.
    package struct ID: Hashable, Sendable, LosslessStringConvertible {
        let name: DamagedRowName

        init(_ name: DamagedRowName) { self.name = name }

        package init?(_ description: String) {
            guard let name = DamagedRowName(description) else { return nil }
            self.name = name
        }

        package var description: String { name.description }
    }

    /// The table of the row. `loginSecret` and `refreshIntent` are rows that belong to no login; those of a login are
    /// listed as the login.
    package enum Table: String, Sendable, Equatable, CaseIterable {
        case provider, user, login, loginSecret, refreshIntent, outbox, authorizationRequest, unusableReply
        /// A part of the list of logins of a user with many of them. Its logins are listed with it.
        case manifestPart
        /// A planted row that is not part of the audit trail's chain.
        case audit
        /// The counter that numbers renewals: `fenceCounter#1`. Discarding it starts it at a number that it has never
        /// reached.
        case fenceCounter
    }

    package let id: ID
    package let table: Table
    /// One sentence.
    package let problem: String
    /// The random handle of the user that it belongs to.
    package let userHandle: String?
    /// Known only if the user's own row opens.
    package let userId: String?
    package let login: LoginID?
    /// The name of the provider that it belongs to, if that opens; its random handle otherwise.
    package let provider: String?
}

extension DamagedRow {
    /// The stored columns of a damaged row, and of the rows that are discarded with it.
    package struct Content: Sendable, Equatable {
        package let row: DamagedRow
        /// The row itself first. Empty for a login that only its user still lists.
        package let rows: [StoredRow]
        /// BLAKE2b-256 of the rows, in hexadecimal digits; the same is in the audit trail once the row is discarded.
        /// `docs/vault-format.md` says how they are encoded.
        package let hash: String

        /// Logins that are discarded with it, itself included.
        package var loginCount: Int {
            row.table == .login ? 1 : rows.count { $0.table == Table.login.rawValue }
        }
    }

    /// One row as it is stored: sealed cells stay sealed.
    package struct StoredRow: Sendable, Equatable {
        package enum Value: Sendable, Equatable {
            case null
            case integer(Int64)
            /// As bytes, because they need not be text.
            case text([UInt8])
            case blob([UInt8])
            case real(Double)
        }

        package struct Column: Sendable, Equatable {
            package let name: String
            package let value: Value
        }

        package let table: String
        package let columns: [Column]
    }

    /// A row that was discarded.
    package struct Discarded: Sendable, Equatable {
        package let row: DamagedRow
        package let rowCount: Int
        /// As in ``Content/hash``.
        package let hash: String
        /// Logins that were discarded with it, and whose grants could not be revoked.
        package let logins: [LoginID]
    }
}

extension DamagedRow.StoredRow {
    init(_ row: RawRow) {
        self.init(
            table: row.table,
            columns: row.columns.map { column in
                let value: Value =
                    switch column.value {
                    case .null: .null
                    case .integer(let value): .integer(value)
                    case .text(let bytes): .text(bytes)
                    case .blob(let bytes): .blob(bytes)
                    case .real(let value): .real(value)
                    }
                return Column(name: column.name, value: value)
            })
    }
}
