import OAuthClient
package import TokenVault
import VaultCrypto
import VaultStorage

extension UserManager {
    /// The body of a kept reply as it came: untrusted bytes, and very likely tokens. Before this returns, the audit
    /// trail records that it was shown.
    /// - Throws: ``VaultError/Code/unknownReply`` if it is no longer kept.
    package func revealUnusableReply(_ id: UnusableReplyID, of login: LoginID) async throws -> [UInt8] {
        let record = try await vault.unusableReply(id, of: login)
        try await vault.updateLogin(login.handle) { state in
            state.auditEvents.append(AuditEvent(.replyRevealed, [.init(AuditEvent.Detail.Key.reply, id.description)]))
        }
        return SalvagedTokens.unpacked(record.bodyBytes)
    }

    /// Takes the refresh token in a kept reply as the login's next link.
    ///
    /// A login in doubt sends it at the next renewal, in place of the token in doubt. A login that died of a lost
    /// response lives again, as a new chain, and is renewed at the next call. This sends nothing.
    ///
    /// The token was found by guess, and is not known to work. If it is refused, the login ends as it would have ended.
    /// - Throws: ``VaultError/Code/unknownReply`` if it is no longer kept, ``VaultError/Code/conflict`` if the login
    ///   has changed or is being renewed, ``VaultError/Code/protocolViolation`` if not exactly one refresh token can be
    ///   read.
    @discardableResult
    package func useUnusableReply(_ id: UnusableReplyID, of login: LoginID) async throws -> Login {
        let record = try await vault.unusableReply(id, of: login)
        let tokens = record.refreshTokens
        guard let token = tokens.first, tokens.count == 1 else {
            throw VaultError(
                .protocolViolation,
                tokens.isEmpty
                    ? "no refresh token can be read in this reply" : "there are several refresh tokens in this reply",
                hint: "reveal it, and set the token by hand if there is one")
        }
        let (vault, now) = (vault, vault.now)
        let updated = try await vault.updateLogin(login.handle) { state in
            try state.requireUnheld(now: now)
            guard record.isFor(state.position) else {
                throw VaultError(.conflict, "the login has changed since this reply arrived")
            }
            if let intent = state.intent, vault.owner(of: intent) == .working {
                throw VaultError(.conflict, "the login is being renewed", hint: "wait for the end, and look again")
            }
            try state.salvage(SecretBytes(utf8: token.reveal()), at: now)
            state.auditEvents += [
                AuditEvent(.replySalvaged, [.init(AuditEvent.Detail.Key.reply, id.description)]),
                AuditEvent(.loginChanged),
            ]
            return state
        }
        return await vault.describe(updated)
    }
}

extension LoginState {
    /// Takes a refresh token that an operator found in a reply to the current one.
    fileprivate mutating func salvage(_ token: SecretBytes, at now: Timestamp) throws {
        if refresh?.refreshToken != nil {
            guard token != refresh?.refreshToken else {
                throw VaultError(
                    .conflict, "the reply holds the login's own refresh token: the server did not replace it")
            }
            guard intent?.isInDoubt == true || refresh?.doubtSince != nil else {
                throw VaultError(.conflict, "the login is not in doubt: its own refresh token is good")
            }
            refresh?.keep(token, as: .successor, since: now)
            session.notBefore = nil
        } else {
            guard session.failure?.reason == RefreshFailure.Reason.lostResponse.code else {
                throw VaultError(.conflict, "the login did not end by a lost response")
            }
            guard TokenType(session.tokenType) != .dpop else {
                throw VaultError(
                    .notRefreshable, "the key that this login's tokens are bound to was destroyed when it ended",
                    hint: "let the user log in again")
            }
            session.clearObstacles()
            refresh = RefreshRecord(refreshToken: token)
            session.origin = nil
            position = position.newChain
        }
    }
}
