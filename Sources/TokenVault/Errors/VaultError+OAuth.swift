import OAuthClient

extension VaultError {
    /// Why an authorization code brought no login.
    init(logIn outcome: TokenOutcome, _ answer: ProviderAnswer?) {
        let again = "begin the log-in again"
        switch outcome {
        case .misconfigured(.wrongTokenType): self.init(wrongTokenType: answer)
        case .misconfigured(.refused(let code)) where code != .unauthorizedClient:
            self.init(
                .providerMisconfigured, "the provider refused this log-in's request",
                hint: "check the redirect URI, the scope and the parameters of this log-in", answer: answer)
        case .misconfigured:
            self.init(
                .providerMisconfigured, "the provider refused this client",
                hint: "check the client id, its secret and the redirect URI", answer: answer)
        case .needsUser:
            self.init(.needsUserInteraction, "the provider wants the user to act", hint: again, answer: answer)
        case .inDoubt:
            self.init(
                .tryLater, "no usable reply came to the log-in, and the code may be used up", hint: again,
                answer: answer)
        case .transient(let failure): self.init(logIn: failure, answer)
        case .nonceRequired, .invalidProof:
            self.init(.tryLater, "the provider did not take the proof of the log-in's key", hint: again, answer: answer)
        case .scopeRefused:
            self.init(
                .logInRefused, "the provider refused the scope", hint: "check the scope of this log-in", answer: answer)
        case .dead:
            self.init(.logInRefused, "the provider refused the authorization code", hint: again, answer: answer)
        case .partial(let tokens) where tokens.cause == .wrongTokenType:
            self.init(wrongTokenType: answer)
        case .partial:
            self.init(
                .protocolViolation, "the provider's reply has no access token that may be used", hint: again,
                answer: answer)
        case .success:
            self.init(.protocolViolation, "the provider's reply cannot be used", hint: again, answer: answer)
        }
    }

    /// Asking again would bring the same.
    init(wrongTokenType answer: ProviderAnswer?) {
        self.init(
            .providerMisconfigured, "the provider gave a token of a type that this login cannot use",
            hint: "check at the provider which type of token this client gets: Bearer and DPoP can be used",
            answer: answer)
    }

    private init(logIn failure: TransientFailure, _ answer: ProviderAnswer?) {
        let again = "begin the log-in again"
        switch failure.cause {
        case .unclassifiedRejection(let status):
            self.init(
                .logInRefused, "the provider refused the authorization code with status \(status)", hint: again,
                answer: answer)
        case .serverError(let status):
            self.init(
                .tryLater, "the provider failed with status \(status)", hint: again, retryAfter: failure.retryAfter,
                answer: answer)
        case .throttled(let status):
            self.init(
                .tryLater, "the provider takes no log-in now (status \(status))", hint: again,
                retryAfter: failure.retryAfter, answer: answer)
        default:
            self.init(
                .tryLater, "the provider did not complete the log-in", hint: again, retryAfter: failure.retryAfter,
                answer: answer)
        }
    }

    /// Errors of values that the caller gave, or that are not as they must be.
    package static func translatingValues<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as OAuthValueError {
            throw VaultError(.invalidArgument, error.description)
        } catch let error as ProfileError {
            throw VaultError(
                .invalidArgument, error.description, hint: "see the fields of a profile in docs/adding-a-provider.md")
        }
    }

    static func translatingCallback<R>(_ body: () throws(AuthorizationCallbackError) -> R) throws -> R {
        do throws(AuthorizationCallbackError) {
            return try body()
        } catch {
            switch error.code {
            case .refused:
                let answer = ProviderAnswer(error)
                // The same log-in would be refused again.
                let lasting: Set<OAuthErrorCode> = [
                    .invalidScope, .invalidTarget, .invalidRequest, .unsupportedResponseType,
                ]
                let isOfRequest = answer?.error.map(lasting.contains) ?? false
                throw VaultError(
                    .logInRefused, error.description,
                    hint: isOfRequest
                        ? "check the scope and the parameters of this log-in, and begin it again"
                        : "begin the log-in again", answer: answer)
            case .issuerMismatch, .missingIssuer:
                throw VaultError(.protocolViolation, error.description, answer: ProviderAnswer(error))
            default:
                throw VaultError(
                    .invalidArgument, error.description, hint: "give the whole URL from the browser's address bar")
            }
        }
    }
}
