import VaultStorage

extension ProviderRecord.DPoPPolicy {
    /// Whether a login, or the client, gets a key, given what was asked.
    func wantsKey(_ asked: Bool?) throws -> Bool {
        switch (self, asked) {
        case (.never, true?):
            throw VaultError(
                .invalidArgument, "DPoP is turned off for this provider",
                hint: "leave it out, or change the provider's `dpop` to optional")
        case (.required, false?):
            throw VaultError(
                .invalidArgument, "this provider requires DPoP",
                hint: "leave it out, or change the provider's `dpop` to optional")
        case (.required, _), (.whenSupported, true?): true
        case (.never, _), (.whenSupported, _): false
        }
    }
}
