package import FoundationEssentials
package import TokenVault

/// A renewal that was begun and whose end is not recorded.
package struct OpenRenewal: Sendable, Equatable {
    package let login: LoginID
    package let owner: Owner
    /// When it was begun.
    package let startedAt: Date
    /// Set if the refresh token may be spent and no usable reply is known.
    package let doubt: RenewalDoubt?
    /// How often this refresh token has been sent, or was about to be.
    package let tries: Int

    /// Who is at work on it.
    package enum Owner: String, Sendable, Equatable, CaseIterable {
        /// A renewal under way in this process.
        case thisProcess
        /// Another living process. It may be stopped; its renewal is taken over only on request.
        case otherProcess
        /// A process that has ended. The next manager takes over.
        case dead
        /// No process: an attempt ended in doubt, and the same token is sent again when its time comes.
        case nobody
    }
}
