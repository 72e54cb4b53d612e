import OAuthClient

/// How a profile is displayed: what is known of its provider, and what is not.
enum ProfileView {
    static func record(_ profile: ProviderProfile) -> OutputRecord {
        let refresh = profile.refresh
        let chains = profile.renewsByAccessToken
        let sources = profile.sources.map { source -> OutputRecord in
            [.data("url", source.url), .data("read", source.read), .data("says", source.says)]
        }
        let sourceWords = profile.sources.map { "\($0.url) (read \($0.read)): \($0.says ?? "")" }
        return [
            Field("name", profile.name), Field("title", profile.title),
            Field("authentication", profile.authenticationMethods.joined(separator: ", ")),
            Field("chain", refresh.chain.rawValue).label("renewed by").words(
                chains ? "a living access token, exchanged for the next" : "a refresh token"),
            Field("rotation", refresh.rotation.rawValue).label("refresh token").words(words(refresh.rotation)),
            Field("graceSeconds", Int(refresh.grace.components.seconds)).label("the old one").words(grace(refresh)),
            Field("idleSeconds", refresh.idleLifetime.map { Int($0.components.seconds) }).label("lives unused").words(
                refresh.idleLifetime.map { Instant.duration(Double($0.components.seconds)) } ?? "not known"),
            Field("absoluteSeconds", refresh.absoluteLifetime.map { Int($0.components.seconds) }).label("lives in all")
                .words(
                    refresh.absoluteLifetime.map { Instant.duration(Double($0.components.seconds)) } ?? "not known"),
            Field("maximumTokens", refresh.maximumTokens).label("refresh tokens of a user"),
            Field("variables", profile.variables.map(\.name)).label("a log-in brings").words(
                profile.variables.map { "\($0.name): \($0.says)" }.joined(separator: "; ")),
            Field("attributes", profile.attributeNames).label("kept with a login").words(
                profile.attributeNames.joined(separator: ", ")),
            Field("missingRefreshToken", refresh.missing).label("without one"),
            Field("notVerified", profile.notVerified).label("not verified").words(
                profile.notVerified.isEmpty ? "nothing" : profile.notVerified.joined(separator: ", ")),
            Field("sources", sources).words(sourceWords.joined(separator: "\n")),
        ]
    }

    private static func words(_ rotation: ReplyRules.Rotation) -> String {
        switch rotation {
        case .never: "stays the same"
        case .sometimes: "may be replaced by a renewal"
        case .always: "is replaced by each renewal"
        }
    }

    private static func grace(_ refresh: ProviderProfile.RefreshPolicy) -> String {
        guard refresh.rotation != .never, refresh.chain == .refreshToken else { return "none" }
        guard refresh.grace > .zero else {
            return switch refresh.reuseBlast {
            case .none: "is refused"
            case .family: "ends the login if it is used again"
            case .clientUser: "ends all logins of the user if it is used again"
            }
        }
        let time = Instant.duration(Double(Int(refresh.grace.components.seconds)))
        return "is answered for \(time)"
            + (refresh.graceEnds == .replacementUsed ? ", or until the new tokens are used" : "")
    }
}
