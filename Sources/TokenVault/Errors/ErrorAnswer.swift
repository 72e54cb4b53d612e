/// The answer of an HTTP server to an error of the vault, and who can help: the user, no one because it passes, or else
/// an operator.
package struct ErrorAnswer: Sendable {
    /// The status code.
    package let status: Int
    /// Whether the user must connect the account. Not 401: their session with the service is good.
    package private(set) var needsUser = false
    /// Whether it passes by itself.
    package private(set) var passes = false

    package var isForOperators: Bool { status >= 500 && !passes }

    package init(_ code: VaultError.Code) {
        switch code {
        case .invalidArgument: status = 400
        case .logInNotBound, .logInRefused, .resourceRefused, .userDisabled: status = 403
        case .unknownLogin, .unknownProvider: status = 404
        case .lostResponse, .needsUserInteraction, .notLoggedIn, .notRefreshable, .otherAccount, .refreshFailed,
            .unknownUser:
            status = 409
            needsUser = true
        case .ambiguousLogin, .conflict, .inUse, .renewalAnswered, .renewalVoid: status = 409
        case .logInExpired, .unknownAuthorizationRequest: status = 410
        case .protocolViolation, .providerMisconfigured: status = 502
        case .busy, .closed, .deadlineExceeded, .keyServiceBusy, .network, .refreshStalled, .tryLater:
            status = 503
            passes = true
        case .cryptographyUnavailable, .held, .heldBySource, .moved, .ownershipLost, .readOnly, .rollbackSuspected,
            .storageFailed, .storageFull, .vaultMissing:
            status = 503
        // A row is damaged, the service is wrong, or only operators' commands give the code: a test names each.
        default: status = 500
        }
    }
}
