import FoundationEssentials
import TokenVault

/// How a damaged row is shown. Its cells are sealed and stay so.
enum DamageFacts {
    static func members(_ row: DamagedRow) -> [(String, JSONValue)] {
        [
            ("row", .string(row.id.description)), ("table", .string(row.table.rawValue)),
            ("problem", .string(row.problem)), ("user", JSONValue(row.userID)),
            ("userHandle", JSONValue(row.userHandle)), ("login", JSONValue(row.login?.description)),
            ("provider", JSONValue(row.provider)),
        ]
    }

    static func json(_ content: DamagedRow.Content) -> JSONValue {
        .object(
            members(content.row) + [
                ("loses", .string(loss(content))), ("hash", .string(content.hash)),
                ("rows", .array(content.rows.map(json))),
            ])
    }

    static func facts(_ content: DamagedRow.Content) -> Facts {
        let row = content.row
        var facts = Facts()
        facts.add("row", row.id.description)
        facts.add("table", row.table.rawValue)
        facts.add("problem", row.problem)
        facts.add("user", row.userID ?? row.userHandle.map { "(\($0))" })
        facts.add("login", row.login?.description)
        facts.add("provider", row.provider)
        for stored in content.rows {
            for column in stored.columns {
                facts.add("\(stored.table).\(column.name)", words(column.value))
            }
        }
        facts.add("hash", content.hash)
        facts.add("discarding loses", loss(content))
        return facts
    }

    /// What goes with the row.
    static func loss(_ content: DamagedRow.Content) -> String {
        switch content.row.table {
        case .provider:
            "this client's registration at the provider; its logins can be kept by registering it again in its place"
        case .user:
            "the user with \(Count.of(content.loginCount, "login")), "
                + "whose tokens can be neither read nor revoked; the user can log in again"
        case .login: "the login, whose tokens can be neither read nor revoked: its grant lives on at the provider"
        case .outbox: "a revocation: its token lives on at the provider until it expires"
        case .authorizationRequest: "a log-in that has not come back: it must be begun again"
        case .unusableReply: "a reply that was kept because it may hold a refresh token"
        case .loginSecret, .refreshIntent: "nothing: no login belongs to it"
        }
    }

    private static func words(_ value: DamagedRow.StoredRow.Value) -> String {
        switch value {
        case .null: "absent"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes) where bytes.count <= 32: hexadecimal(bytes)
        case .blob(let bytes): Count.of(bytes.count, "byte")
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func json(_ row: DamagedRow.StoredRow) -> JSONValue {
        .object([
            ("table", .string(row.table)),
            (
                "columns",
                .array(
                    row.columns.map { column in
                        let (type, value) = typed(column.value)
                        return .object([("name", .string(column.name)), ("type", type), ("value", value)])
                    })
            ),
        ])
    }

    /// Bytes in base64, text too: nothing says that it is UTF-8. A number beyond what JSON readers keep exactly is text.
    private static func typed(_ value: DamagedRow.StoredRow.Value) -> (JSONValue, JSONValue) {
        switch value {
        case .null: ("null", .null)
        case .integer(let value): ("integer", .string(String(value)))
        case .real(let value): ("real", .string(String(value)))
        case .text(let bytes): ("text", .string(Data(bytes).base64EncodedString()))
        case .blob(let bytes): ("blob", .string(Data(bytes).base64EncodedString()))
        }
    }
}
