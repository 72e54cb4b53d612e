import TokenVault
import VaultAdministration

extension LoginID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension RevocationID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension UnusableReplyID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension DamagedRow.ID: JSONConvertible {
    var json: JSONValue { .string(description) }
}
