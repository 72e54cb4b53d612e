import VaultStorage

extension LoginState {
    /// Ends the chain for good. The position is new, so that no renewal in progress can bring it back.
    mutating func terminate(_ reason: TerminationReason) {
        position = position.newChain
        session.state = .terminated
        session.terminationReason = reason.code
        session.accessToken = nil
        session.accessGeneration = nil
        session.resourceTokens = []
        session.attributes = [:]
        session.clearObstacles()
        session.doubtCause = nil
        refresh = nil
        key = nil
        intent = nil
    }
}
