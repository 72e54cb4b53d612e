/// The body of a request.
public enum RequestBody: Sendable {
    case none
    /// Sent again if the request is.
    case bytes([UInt8])
    /// Read while it is sent, and never replayed: the request is sent once, whatever the reply.
    ///
    /// Without a length it is sent in chunks.
    case stream(any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64? = nil)

    var canBeSentAgain: Bool {
        if case .stream = self { false } else { true }
    }
}
