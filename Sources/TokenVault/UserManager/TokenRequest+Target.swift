import OAuthClient
import VaultStorage

extension TokenRequest {
    /// The one of the login's tokens that is requested.
    var target: TokenTarget {
        get throws {
            if resource == nil, scope == nil { return .own }
            guard resource.map(ArgumentCheck.isResource) ?? true else {
                throw VaultError(.invalidArgument, "a resource is an absolute URI without a fragment")
            }
            guard scope?.isEmpty != true else { throw VaultError(.invalidArgument, "the scope is empty") }
            // In a fixed order, so that the same scope is one key.
            return TokenTarget(resource: resource, scope: scope?.tokens.sorted().joined(separator: " "))
        }
    }

    func demand(in snapshot: SessionSnapshot, _ target: TokenTarget) -> RenewalDemand {
        guard renewsNow else { return .validity(minimumValidity) }
        let stored = snapshot.session.token(target, at: snapshot.position)
        return .newer(
            than: stored?.generation ?? snapshot.session.accessGeneration ?? snapshot.position.generation)
    }

    /// Refuses to request a token with a wider scope than the grant (RFC 6749 §6).
    static func check(_ scope: String, against granted: String?) throws {
        guard let granted = granted.flatMap({ try? Scope($0) }), !granted.isEmpty else { return }
        guard try granted.contains(VaultError.translatingValues { try Scope(scope) }) else {
            throw VaultError(
                .invalidArgument, "the scope is wider than what the user granted",
                hint: "log the user in again with the wider scope")
        }
    }
}
