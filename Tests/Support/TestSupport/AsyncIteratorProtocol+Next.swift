extension AsyncIteratorProtocol where Failure == Never {
    /// The next element, of a sequence that never fails. The protocol's own method of this form throws anything.
    public mutating func next() async -> Element? { await next(isolation: nil) }
}
