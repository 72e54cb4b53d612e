import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Asks the provider to revoke what a log-in into this login has replaced. Only for programs that end right after it.
    package func revokeReplaced(of login: LoginID) async throws {
        let due = try await VaultError.translating {
            try await vault.store.dueOutboxEntries(at: vault.now, limit: Self.mostRevokedAtOnce)
        }
        _ = await revoker.revoke(due.filter { $0.record.login == login.handle })
    }

    private static let mostRevokedAtOnce = 1_000
}

extension UserManager {
    func replaceable(_ login: LoginRef) async throws -> (StoredLogin, StoredProvider) {
        let handle = try await handle(of: login)
        return try await VaultError.translating {
            let stored = try await vault.store.login(handle)
            try stored.requireReplaceable(now: vault.now)
            guard let provider = stored.provider else {
                throw VaultError(
                    .invalidArgument, "this login has no provider at which the user could log in",
                    hint: "set its token, or make a login at a provider")
            }
            return (stored, try await vault.store.provider(provider))
        }
    }

    /// Called before the code is spent.
    func requireReplaceable(_ target: ReplacedLogin) async throws {
        try await VaultError.translating {
            try await vault.store.login(target.login).requireReplaceable(target, now: vault.now)
        }
    }

    /// Puts the tokens of a log-in into the login that they are for.
    func replace(_ target: ReplacedLogin, with draft: LoginDraft, _ request: GrantRequest) async throws -> Login {
        let style = RevocationStyle(request.provider.record)
        let now = vault.now
        let state = try await storing {
            try await vault.change(target.login) { state in
                try state.logInAgain(draft, target, style, now: now)
                return state
            }
        }
        vault.superseding.fire([target.login])
        context.lifetimes.forget(target.login)
        if context.options.retriesRevocationsInBackground { revoker.revokeSoon() }
        return await vault.describe(state)
    }
}

extension ReplacedLogin {
    init(_ stored: StoredLogin, acceptsOtherAccount: Bool) {
        self.init(
            login: stored.handle, chain: stored.position.chain, acceptsOtherAccount: acceptsOtherAccount)
    }
}
