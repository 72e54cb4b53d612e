import FoundationEssentials
import OAuthClient
import TokenVault
import VaultAdministration
import VaultStorage

/// How a damaged row is displayed. Its cells are sealed and stay so.
enum DamageView {
    static let headings = ["ROW", "TABLE", "USER", "PROVIDER", "PROBLEM"]

    static func record(_ row: DamagedRow) -> OutputRecord {
        let user = row.userId ?? row.user.map { "(\($0.text))" }
        return [
            Field("row", row.name).column("ROW"),
            Field("table", row.table.rawValue).column("TABLE"),
            Field("problem", row.damage.message).column("PROBLEM"),
            Field("user", row.userId).words(user).column("USER", user),
            .data("userHandle", row.user?.text),
            Field("login", row.login.map { LoginID($0) }),
            Field("provider", row.providerName ?? row.provider?.text).column("PROVIDER"),
        ]
    }

    static func record(_ content: DamagedRowContent) -> OutputRecord {
        let columns = content.rows.flatMap { row in
            row.columns.map { Field.line("\(row.table).\($0.name)", words($0.value)) }
        }
        return record(content.row)
            + [Field("loses", loss(content)).label("discarding loses"), Field("hash", Hex.encode(content.hash))]
            + [.data("rows", content.rows.map(record))] + OutputRecord(columns)
    }

    /// The data that is lost with the row.
    static func loss(_ content: DamagedRowContent) -> String {
        switch content.row.table {
        case .provider:
            "this client's registration at the provider; to keep its logins, register it in its place: vaultctl "
                + "provider add NAME --replace-damaged \(content.row.name)"
        case .user:
            "the user with \(Count.of(content.loginCount, "login")), "
                + "whose tokens can be neither read nor revoked; the user can log in again"
        case .login: "the login, whose tokens can be neither read nor revoked; its grant stays valid at the provider"
        case .outbox: "a revocation; its token stays valid at the provider until it expires"
        case .authorizationRequest: "a log-in that is not complete yet; it must be begun again"
        case .unusableReply: "a reply that was kept because it may hold a refresh token"
        case .manifestPart:
            "\(Count.of(content.loginCount, "login")) of the user, whose tokens can be neither read nor revoked; "
                + "their grants stay valid at the provider, and the user's other logins stay"
        case .observer: "how far an observer of events has got; it begins again with events from now on"
        case .audit: "nothing: the vault did not write it"
        case .fenceCounter: "nothing: renewals are numbered from where no number was given before"
        case .loginSecret, .refreshIntent: "nothing: no login belongs to it"
        }
    }

    private static func words(_ value: RawRow.Value) -> String {
        switch value {
        case .null: "absent"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes) where bytes.count <= 32: Hex.encode(bytes)
        case .blob(let bytes): Count.of(bytes.count, "byte")
        }
    }

    static func record(_ row: RawRow) -> OutputRecord {
        let columns = row.columns.map { column -> OutputRecord in
            let (type, value) = typed(column.value)
            return [.data("name", column.name), .data("type", type), .data("value", value)]
        }
        return [.data("table", row.table), .data("columns", columns)]
    }

    /// Bytes and text in base64: the text may not be UTF-8. A number too big for JSON readers to keep exactly is text.
    private static func typed(_ value: RawRow.Value) -> (type: String, value: String?) {
        switch value {
        case .null: ("null", nil)
        case .integer(let value): ("integer", String(value))
        case .real(let value): ("real", String(value))
        case .text(let bytes): ("text", Data(bytes).base64EncodedString())
        case .blob(let bytes): ("blob", Data(bytes).base64EncodedString())
        }
    }
}
