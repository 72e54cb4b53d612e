public import OAuthClient

/// The parameters of one log-in beyond its scope.
///
/// ```swift
/// var parameters = LogInParameters()
/// parameters.prompt = "login"
/// parameters.maximumAge = .seconds(300)
/// parameters.resources = ["https://calendar.example"]
/// ```
public struct LogInParameters: Sendable, Equatable {
    /// The APIs that the tokens are for (RFC 8707): absolute URIs. Later renewals may name only these.
    public var resources: [String] = []
    /// OpenID Connect's `prompt`, such as `login`, `consent` or `select_account`.
    public var prompt: String?
    /// How long ago the user may have authenticated at most (`max_age`). A log-in whose id token does not confirm it
    /// fails.
    public var maximumAge: Duration?
    /// Ways to authenticate that are preferred (`acr_values`), the best first. Providers may use another: look at
    /// `claims["acr"]`.
    public var contextClasses: [String] = []
    /// The grant in detail (RFC 9396): a JSON array.
    public var authorizationDetails: String?
    /// Further parameters that the provider knows. Parameters that protect the log-in cannot be replaced.
    public var extra: [FormParameter] = []

    public init() {}
}

extension LogInParameters: PublicRendering {
    var shown: ShownFields {
        [
            "resources": resources, "prompt": prompt, "maximumAge": maximumAge, "contextClasses": contextClasses,
            "authorizationDetails": authorizationDetails, "extra": extra,
        ]
    }
}
