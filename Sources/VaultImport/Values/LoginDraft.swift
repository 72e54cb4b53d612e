import FoundationEssentials
import OAuthClient

/// A login while it is being read.
struct LoginDraft {
    let place: SourcePlace
    var userKey = ""
    var provider = ""
    var subject: String?
    var isSubjectOfIDToken = false
    var clientID: ClientID?
    var accessToken: AccessToken?
    var tokenType: TokenType?
    var expiresAt: Date?
    var refreshToken: RefreshToken?
    var refreshExpiresAt: Date?
    var scope: Scope?
    var idToken: IDToken?
    var dpopKey: DPoPKey?
    var label: String?
    var resource: String?
    var attributes: [String: String] = [:]
    var obtainedAt: Date?
    var resourceTokens: [SourceResourceToken] = []
    var warnings: [ImportWarning] = []

    init(_ place: SourcePlace) { self.place = place }

    mutating func warn(_ warning: ImportWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    /// Warnings are sorted by name, so that the same row always gives the same result.
    var login: SourceLogin { SourceLogin(self, warnings: warnings.sorted { $0.name < $1.name }) }
}
