/// The data that currently depends on a provider.
package struct ProviderUse: Equatable, Sendable {
    /// The number of its logins that hold a refresh token.
    package let refreshableLogins: Int

    package init(refreshableLogins: Int) {
        self.refreshableLogins = refreshableLogins
    }
}

extension ProviderRecord {
    /// One field that has changed. Secrets and the text of a profile are named without their values.
    package struct Change: Equatable, Sendable {
        package let field: String
        package let previous: String?
        package let current: String?
    }

    /// The changes that an operator must be able to see: above all where tokens go, before and after.
    package func changes(from old: ProviderRecord) -> [Change] {
        let fields: [(String, String?, String?)] = [
            ("name", old.name, name),
            ("issuer", old.issuer, issuer),
            ("authorizationEndpoint", old.authorizationEndpoint, authorizationEndpoint),
            ("tokenEndpoint", old.tokenEndpoint, tokenEndpoint),
            ("revocationEndpoint", old.revocationEndpoint, revocationEndpoint),
            ("introspectionEndpoint", old.introspectionEndpoint, introspectionEndpoint),
            ("pushedAuthorizationEndpoint", old.pushedAuthorizationEndpoint, pushedAuthorizationEndpoint),
            ("deviceAuthorizationEndpoint", old.deviceAuthorizationEndpoint, deviceAuthorizationEndpoint),
            ("jwksURI", old.jwksURI, jwksURI),
            ("clientId", old.clientID, clientID),
            ("clientAuthentication", old.clientAuthentication, clientAuthentication),
            ("clientKeyId", old.clientKeyID, clientKeyID),
            ("clientKeyAlgorithm", old.clientKeyAlgorithm, clientKeyAlgorithm),
            ("registrationURI", old.registrationURI, registrationURI),
            ("requiresPushedRequests", String(old.requiresPushedRequests), String(requiresPushedRequests)),
            (
                "bindsTokensToCertificate", String(old.bindsTokensToCertificate), String(bindsTokensToCertificate)
            ),
            ("scope", old.defaultScope, defaultScope),
            ("redirectUri", old.redirectURI, redirectURI),
            ("dpop", old.dpop.word, dpop.word),
            ("requiresIssuerInCallback", String(old.requiresIssuerInCallback), String(requiresIssuerInCallback)),
            ("profile", old.profileName, profileName),
            ("apiOrigins", old.apiOriginsText, apiOriginsText),
            ("mostDeaths", old.mostDeaths.map { String($0) }, mostDeaths.map { String($0) }),
            ("assertionAudience", old.assertionAudience, assertionAudience),
            ("clientSecretExpiresAt", old.clientSecretExpiresAt?.text, clientSecretExpiresAt?.text),
            ("daysEndedIsKept", old.daysEndedIsKept.map { String($0) }, daysEndedIsKept.map { String($0) }),
        ]
        var changes = fields.filter { $0.1 != $0.2 }.map { Change(field: $0.0, previous: $0.1, current: $0.2) }
        let unshown = [
            ("profileDocument", old.profileDocument != profileDocument),
            ("clientSecrets", old.clientSecrets != clientSecrets),
            (
                "clientCertificate",
                old.clientCertificate != clientCertificate || old.clientCertificateKey != clientCertificateKey
            ),
            ("registrationToken", old.registrationToken != registrationToken),
            ("parameters", old.parameters != parameters),
        ]
        changes += unshown.filter(\.1).map { Change(field: $0.0, previous: nil, current: nil) }
        return changes
    }
}

extension ProviderRecord {
    fileprivate var apiOriginsText: String? { apiOrigins.isEmpty ? nil : apiOrigins.joined(separator: " ") }
}

extension ProviderRecord.DPoPPolicy {
    fileprivate var word: String {
        switch self {
        case .never: "never"
        case .whenSupported: "optional"
        case .required: "required"
        }
    }
}
