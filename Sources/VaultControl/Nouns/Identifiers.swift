import TokenVault
import VaultAdministration
import VaultStorage

extension LoginID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension RevocationID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension UnusableReplyID: JSONConvertible {
    var json: JSONValue { .string(description) }
}

extension DamagedRowName: JSONConvertible {
    var json: JSONValue { .string(description) }
}
