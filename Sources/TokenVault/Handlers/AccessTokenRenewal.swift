public import FoundationEssentials
public import OAuthClient
import Synchronization

/// The question that a ``SessionHandler`` answers, once.
///
/// A second answer throws ``VaultError/Code/renewalAnswered``. An answer that comes too late throws
/// ``VaultError/Code/renewalVoid``: the login has obtained a token in another way, was logged out, was disabled or is
/// dead, another handler was installed, no caller waits any longer, or the vault was closed. In both cases nothing
/// happens. An answer that cannot be used for this login throws too, and leaves the question open.
public final class AccessTokenRenewal: Sendable {
    /// The user, as the app calls them.
    public let userId: String
    public let login: LoginID
    /// Whether the access token has expired. Then the renewal is a full log-in: the token given to
    /// ``renewWithAuthToken(_:expiresAt:)`` starts a new chain, and nothing of the old one is kept.
    public let isLogIn: Bool

    private let means: Means
    private let answer: OneAnswer<SessionAnswer>
    /// Throws if the login has changed in the meantime, in any process.
    private let check: @Sendable () async throws -> Void
    private let isAnswered = Mutex(false)

    /// The ways in which this login can be renewed.
    struct Means: Sendable, Equatable {
        var canRenew: Bool
        var authToken: AuthTokenUse

        enum AuthTokenUse: Sendable, Equatable {
            /// The token is the new access token.
            case itself
            /// The provider exchanges it for tokens.
            case exchange
            /// There is a provider, but it accepts no such token.
            case none
        }
    }

    init(
        userId: String, login: LoginID, isLogIn: Bool, means: Means, answer: OneAnswer<SessionAnswer>,
        check: @escaping @Sendable () async throws -> Void
    ) {
        self.userId = userId
        self.login = login
        self.isLogIn = isLogIn
        self.means = means
        self.answer = answer
        self.check = check
    }

    deinit {
        answer.give(.unanswered)
    }

    /// Whether an answer would still be accepted, as far as this process knows.
    public var isOpen: Bool { answer.isOpen }

    /// Renews with the login's own means: its refresh token, or the ``TokenRefreshHandler``.
    ///
    /// - Throws: ``VaultError/Code/notRefreshable`` if it has neither.
    public func renew() async throws {
        try requireUnanswered()
        guard means.canRenew else {
            throw VaultError(
                .notRefreshable, "the login has no refresh token and there is no handler that provides access tokens",
                hint: "answer with a token, or that there is none")
        }
        try await give(.consent)
    }

    /// Renews with a token of the app's own server.
    ///
    /// The login's provider gets it in exchange for its own tokens, by the grant that its profile names (RFC 7523 or
    /// RFC 8693). For a login without a provider it is the new access token itself. If the provider refuses it, that
    /// says nothing about the login: the next question comes no sooner than ten minutes later.
    ///
    /// - Parameters:
    ///   - authToken: The token. Nothing of it is stored where it is exchanged.
    ///   - expiresAt: When it expires, where it is the access token itself; nil if unknown. An expired token, and the
    ///     same token again without a later expiry, count as a transient failure.
    /// - Throws: ``VaultError/Code/invalidArgument`` if the provider's profile has no exchange.
    public func renewWithAuthToken(_ authToken: AuthToken, expiresAt: Date? = nil) async throws {
        try requireUnanswered()
        switch means.authToken {
        case .exchange: try await give(.authToken(authToken))
        case .itself:
            let token = try VaultError.translatingValues { try AccessToken(authToken.reveal()) }
            try await give(.accessToken(RefreshedAccessToken(accessToken: token, expiresAt: expiresAt)))
        case .none:
            throw VaultError(
                .invalidArgument, "the provider's profile names no grant that takes a token of the app",
                hint: "give the profile a section `exchange`, or answer by `renew()`")
        }
    }

    /// Reports that there is no token now. No process asks again for ten to eleven minutes, across restarts and for any
    /// caller, unless the login gets a token in another way. An access token that is still valid is served meanwhile.
    public func unableToRetrieveAuthToken() async throws {
        try await give(.unable)
    }

    private func give(_ value: SessionAnswer) async throws {
        try requireUnanswered()
        if answer.isOpen { try await check() }
        try isAnswered.withLock { isAnswered in
            guard !isAnswered else { throw Self.answered }
            guard answer.give(value) else {
                throw VaultError(
                    .renewalVoid, "no caller waits for the answer to this renewal any longer",
                    hint: "nothing is lost: the handler is asked again when a token is needed")
            }
            isAnswered = true
        }
    }

    /// Checked before the means: whatever the second answer is, the first one counts.
    private func requireUnanswered() throws {
        guard !isAnswered.withLock({ $0 }) else { throw Self.answered }
    }

    private static var answered: VaultError {
        VaultError(
            .renewalAnswered, "this renewal has been answered already", hint: "the first answer counts: give only one")
    }
}

extension AccessTokenRenewal: PublicRendering {
    var shown: ShownFields { ["userId": ShownFields.name(userId), "login": login, "isLogIn": isLogIn] }
}

/// The result of asking a ``SessionHandler``.
enum SessionAnswer: Sendable {
    case consent
    /// To be exchanged.
    case authToken(AuthToken)
    case accessToken(RefreshedAccessToken)
    case unable
    /// The renewal was released without an answer.
    case unanswered
    case timedOut
    /// The login got a token in another way, or is gone, or the vault is closing.
    case withdrawn
    case handlerReplaced
}
