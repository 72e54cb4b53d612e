import OAuthClient

extension VaultError {
    /// Why an authorization code brought no login.
    init(logIn outcome: TokenOutcome) {
        let again = "begin the log-in again"
        switch outcome {
        case .misconfigured:
            self.init(
                .providerMisconfigured, "the provider refused this client",
                hint: "check the client id, its secret and the redirect URI")
        case .needsUser:
            self.init(.needsUserInteraction, "the provider wants the user to act", hint: again)
        case .inDoubt:
            self.init(.tryLater, "no usable reply came to the log-in, and the code may be used up", hint: again)
        case .transient, .nonceRequired, .invalidProof:
            self.init(.tryLater, "the provider did not complete the log-in", hint: again)
        case .scopeRefused:
            self.init(.logInRefused, "the provider refused the scope", hint: again)
        case .dead, .siblingWon:
            self.init(.logInRefused, "the provider refused the authorization code", hint: again)
        case .success, .partial:
            self.init(.protocolViolation, "the provider's reply cannot be used", hint: again)
        }
    }

    /// Errors of values that the caller gave, or that are not as they must be.
    static func translatingValues<R>(_ body: () throws -> R) throws -> R {
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
            case .refused: throw VaultError(.logInRefused, error.description, hint: "begin the log-in again")
            case .issuerMismatch: throw VaultError(.protocolViolation, error.description)
            default: throw VaultError(.invalidArgument, error.description)
            }
        }
    }
}
