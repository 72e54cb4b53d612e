extension Asked {
    /// A handler's time and its errors are not the provider's.
    init(_ attempt: RenewalAttempt) {
        self.init(attempt.claim.method == .grant ? attempt.provider : nil)
    }
}
