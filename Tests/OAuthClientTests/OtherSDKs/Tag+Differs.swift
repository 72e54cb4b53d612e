import Testing

extension Tag {
    /// A sentence of another SDK from which TokenVault differs on purpose: the test shows what it does instead.
    @Tag static var differs: Self
}
