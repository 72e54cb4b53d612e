extension ProviderAnswer {
    /// The provider's answer in a callback that reports an error (RFC 6749 §4.1.2.1).
    package init?(_ error: AuthorizationCallbackError) {
        guard error.error != nil || error.errorDescription != nil else { return nil }
        self.init(status: nil, error: error.error, message: error.errorDescription)
    }
}
