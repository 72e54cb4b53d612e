package import TokenVault
package import VaultStorage

/// A login with the data that another system needs to renew it. Its renderings show neither tokens nor the user.
package struct ExportableLogin: Sendable, CustomStringConvertible, CustomReflectable {
    package let stored: StoredLogin
    /// The provider's name.
    package let provider: String
    package let clientID: String
    /// When it was read.
    let now: Timestamp

    package var description: String { "login \(stored.handle)" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

/// A login that may be exported, or one that is damaged.
package enum ExportCandidate: Sendable {
    case login(ExportableLogin)
    case damaged(LoginID)
}

/// A page of the logins that may be exported.
package struct ExportPage: Sendable {
    package let candidates: [ExportCandidate]
    /// The last login of the page; nil at the end.
    package let last: LoginID?
}

/// Why a login is not exported.
package enum ExportObstacle: Hashable, Sendable, CaseIterable {
    /// It is ended or dead, or can neither be used nor renewed.
    case dead
    /// Another system owns its chain.
    case heldBySource
    /// Two systems have renewed it.
    case contested
    case heldByRestore
    /// A renewal is in progress, or may have spent the refresh token.
    case renewalOpen
    case userDisabled
    case noProvider
}

extension ExportableLogin {
    /// - Parameters:
    ///   - owner: The new owner of the chain; nil for this vault.
    ///   - repeats: Whether a login may be exported that already belongs to this owner.
    package func obstacle(owner: String?, repeats: Bool) -> ExportObstacle? {
        if stored.provider == nil { return .noProvider }
        return stored.exportObstacle(owner: owner, repeats: repeats, now: now)
    }
}

extension LoginRow {
    func exportObstacle(owner: String?, repeats: Bool, now: Timestamp) -> ExportObstacle? {
        if userStatus != .active { return .userDisabled }
        guard isLiving, refresh?.refreshToken != nil || session.livingAccessToken(at: now) != nil else { return .dead }
        if let origin = session.origin, session.isHeldBySource {
            if origin.owner == .contested { return .contested }
            return repeats && origin.source == owner ? nil : .heldBySource
        }
        if isHeld { return .heldByRestore }
        let isOpen = intent != nil || refresh?.doubtSince != nil || session.doubtCause != nil
        return isOpen ? .renewalOpen : nil
    }
}
