package import FoundationEssentials
package import TokenVault

/// A renewal that was begun, without a recorded end.
package struct OpenRenewal: Sendable, Equatable {
    package let login: LoginID
    package let owner: Owner
    /// When it was begun.
    package let startedAt: Date
    /// Set if the refresh token may be spent and no usable reply is known.
    package let doubt: RenewalDoubt?
    /// How often this refresh token has been sent, or was about to be.
    package let tries: Int

    /// The process that holds the renewal.
    package enum Owner: String, Sendable, Equatable, CaseIterable {
        /// A renewal in progress in this process.
        case thisProcess
        /// Another living process. It may be stopped; its renewal is taken over only on request.
        case otherProcess
        /// A process that has ended. The next manager takes over.
        case dead
        /// No process: an attempt ended in doubt, and the same token is sent again when its time comes.
        case nobody
    }
}
