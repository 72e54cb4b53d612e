@_spi(_Unicode) import Swift
import VaultCrypto

extension Keyring {
    /// Names that `String` considers equal, because Unicode calls them canonically equivalent, have the same index. The
    /// standard library normalizes strings to compare them; this is the same form, which it offers under no other name.
    func blindIndexes(ofProviderName name: String) -> BlindIndexes {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        let bytes = [UInt8](String(scalars).utf8)
        return unsafe bytes.withUnsafeBytes { unsafe blindIndexes(of: $0, domain: .providerName) }
    }

    func blindIndex(ofProviderName name: String) -> BlindIndex { blindIndexes(ofProviderName: name).current }

    func blindIndexes(ofState state: SecretBytes) -> BlindIndexes {
        unsafe state.withUnsafeBytes { unsafe blindIndexes(of: $0, domain: .authorizationState) }
    }
}
