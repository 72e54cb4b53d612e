/// The tables of a vault, as `docs/vault-format.md` describes them.
package enum Table: String, CaseIterable, Sendable {
    case vault, migration, keySlot, provider, user, login, loginSecret, refreshIntent, authorizationRequest, outbox
    case audit, unusableReply
    case unreportedFailure = "untoldFailure"
    case backup, manifestPart, observer

    /// The integer column that numbers the rows. Each row has a number, and no two rows share one.
    package var key: String {
        switch self {
        case .migration: "version"
        case .loginSecret, .unreportedFailure: "login"
        case .refreshIntent: "fence"
        case .audit: "sequence"
        default: "id"
        }
    }
}

package struct Column: Hashable, Sendable {
    package let table: Table
    package let name: String

    package init(table: Table, name: String) {
        self.table = table
        self.name = name
    }
}

extension Table {
    package subscript(name: String) -> Column { Column(table: self, name: name) }

    package func columns(_ names: String...) -> [Query.Output] { names.map { .column(self[$0]) } }
}
