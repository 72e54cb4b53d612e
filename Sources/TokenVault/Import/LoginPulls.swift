import Synchronization
import VaultCrypto
import VaultStorage

/// Pulls of users from a ``LoginSource``: one at a time for each user.
final class LoginPulls: Sendable {
    private let pulls = Mutex<[String: Task<Void, any Error>]>([:])

    /// Returns when the user's logins are in the vault, if the source has any.
    ///
    /// A login that the source has released is stored, even if all callers have gone.
    func pull(_ userId: String, from source: any LoginSource, into vault: Vault) async throws {
        let task = pulls.withLock { pulls in
            if let known = pulls[userId] { return known }
            let task = Task.detached {
                defer { self.pulls.withLock { $0[userId] = nil } }
                try await Self.take(userId, source, vault)
            }
            pulls[userId] = task
            return task
        }
        try await task.value
        try Task.checkCancellation()
    }

    private static func take(_ userId: String, _ source: any LoginSource, _ vault: Vault) async throws {
        guard vault.flightStarted() else { throw VaultError(.closed, now: vault.now) }
        defer { vault.flightEnded() }
        let name = try ArgumentCheck.source(source.name)
        // Another pull may have ended since the vault reported the user as unknown.
        do {
            _ = try await vault.user(userId)
            return
        } catch let error as VaultError where error.code == .unknownUser {}
        let released = try await source.release(userId: userId)
        guard !released.isEmpty else { return }
        var logins: [ImportedLogin] = []
        for login in released {
            guard let target = try await vault.importTarget(named: login.provider) else {
                throw VaultError(StoreError.notFound(.provider))
            }
            logins.append(ImportedLogin(login, userId: userId, provider: target.provider, source: name))
        }
        let prepared = vault.prepareImported(logins, for: .take(.vault))
        for answer in try await vault.takeImported(prepared, for: .take(.vault), isRehearsal: false) {
            switch answer {
            case .added, .known, .absent: continue
            case .userDisabled: throw VaultError(.userDisabled, now: vault.now)
            case .damaged:
                throw VaultError(.quarantined, "a login of the user is damaged, so it may be one that was released")
            }
        }
    }
}

extension ImportedLogin {
    fileprivate init(_ login: ReleasedLogin, userId: String, provider: ProviderHandle, source: String) {
        self.init(
            userId: userId, provider: provider, source: source,
            row: ImportOrigin.hash(name: [login.provider, userId, login.key]))
        accessToken = login.accessToken
        expiresAt = login.expiresAt
        refreshToken = login.refreshToken
        refreshExpiresAt = login.refreshExpiresAt
        scope = login.scope
        tokenType = login.tokenType
        dpopKey = login.dpopKey
        label = login.label
        subject = login.subject
    }
}
