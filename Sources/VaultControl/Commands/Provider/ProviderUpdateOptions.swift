import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

/// Changes to a provider.
struct ProviderUpdateOptions: ParsableArguments {
    /// Fields that a provider does not need.
    enum Removable: String, ExpressibleByArgument, CaseIterable {
        case issuer
        case authorizationEndpoint = "authorization-endpoint"
        case revocationEndpoint = "revocation-endpoint"
        case introspectionEndpoint = "introspection-endpoint"
        case deviceAuthorizationEndpoint = "device-authorization-endpoint"
        case pushedAuthorizationEndpoint = "pushed-authorization-endpoint"
        case jwksURI = "jwks-uri"
        case assertionAudience = "assertion-audience"
        case deathLimit = "death-limit"
        case keepEndedDays = "keep-ended-days"
        case clientCertificate = "client-certificate"
        case clientSecretExpires = "client-secret-expires"
        case scope
        case redirectURI = "redirect-uri"
        case apiOrigins = "api-origins"
    }

    @Flag(help: "Fetch the stored issuer's metadata again.")
    var rediscover = false

    @Option(help: .init("A new issuer, whose metadata is fetched.", valueName: "url"))
    var issuer: String?

    @Option(help: .init("This client's id at the provider.", valueName: "id"))
    var clientID: String?

    @OptionGroup var client: ClientAuthenticationOptions

    @Flag(help: "Make the second client secret the first, and the first the last.")
    var promoteClientSecret = false

    @Flag(help: "Forget all client secrets but the first.")
    var dropFurtherClientSecrets = false

    @OptionGroup var settings: ProviderSettings

    @Option(
        help: .init(
            "Remove a field: \(Removable.allCases.map(\.rawValue).joined(separator: ", ")). Repeatable.",
            valueName: "field"))
    var remove: [Removable] = []

    @Option(help: .init("An API origin that is no longer allowed. Repeatable.", valueName: "origin"))
    var removeAPIOrigin: [String] = []

    @Flag(help: "Accept http:// on this machine, for development servers.")
    var allowInsecureLoopback = false

    func change(
        of provider: Provider, in vault: Vault, _ reader: inout SecretReader, _ access: VaultAccess
    ) async throws -> ProviderChange {
        try check()
        let chosen = try ChosenProfile(name: settings.profile, file: settings.profileFile)
        let isProfileChosen = settings.profile != nil || settings.profileFile != nil
        chosen.warn(ifNotOf: issuer ?? provider.issuer?.rawValue, access.invocation)
        let known = await isProfileChosen ? chosen.profile : try vault.profile(ofProvider: provider.name)
        var change = try await discovered(provider, known, access)
        if isProfileChosen { change.profile = chosen.document.map { .document($0) } ?? .shipped(chosen.profile.name) }
        if try client.isGiven {
            let method = try client.method(preferring: known, inUse: provider.clientAuthentication)
            let isCertificateAlone = try client.isCertificateAlone
            if method != provider.clientAuthentication || method.isByCertificate || !isCertificateAlone {
                change.authentication = try client.authentication(method, known, &reader, access.invocation)
            }
            if let certificate = try client.tokenCertificate(beside: method, &reader, access.invocation) {
                change.tokenCertificate = .set(certificate)
            }
        }
        let method = change.authentication?.methodName ?? provider.clientAuthentication
        if isProfileChosen || change.authentication != nil || settings.dpop != nil {
            ChosenProfile.warn(of: method, settings.dpop, notIn: known, access.invocation)
        }
        if remove.contains(.clientCertificate) {
            guard !method.isByCertificate else {
                throw Failure.usage(
                    "the client authenticates with this certificate (\(method)), so it cannot be removed",
                    hint: "replace it: --client-certificate PATH --client-certificate-key PATH; or name "
                        + "another method, too: --client-auth METHOD")
            }
            change.tokenCertificate = .remove
        }
        change.bindsTokensToCertificate = settings.certificateBoundTokens
        if dropFurtherClientSecrets { change.alternativeSecrets = [] }
        change.addedSecrets = try client.further.secrets(after: method, change.authentication, &reader) ?? []
        settings.noteSecretEnd(client.further, access.invocation)
        change.promotesNextSecret = promoteClientSecret
        change.clientID = try clientID.map { try ClientID($0) }
        let given = try ProviderValues(
            settings, of: change.clientID ?? provider.clientID, allowsInsecureLoopback: allowInsecureLoopback)
        change.tokenEndpoint = given.tokenEndpoint ?? change.tokenEndpoint
        change.dpop = settings.dpop
        try setFields(given, now: access.invocation.now, &change)
        try checkRemoval(of: change.removedAPIOrigins, from: provider)
        return change
    }

    private func setFields(_ given: ProviderValues, now: Date, _ change: inout ProviderChange) throws {
        // A fetched issuer is set along with its metadata.
        set(&change.issuer, given.tokenEndpoint == nil ? nil : try givenIssuer, .issuer)
        set(&change.authorizationEndpoint, given.authorizationEndpoint, .authorizationEndpoint)
        set(&change.revocationEndpoint, given.revocationEndpoint, .revocationEndpoint)
        set(&change.introspectionEndpoint, given.introspectionEndpoint, .introspectionEndpoint)
        set(&change.deviceAuthorizationEndpoint, given.deviceAuthorizationEndpoint, .deviceAuthorizationEndpoint)
        set(&change.pushedAuthorizationEndpoint, given.pushedAuthorizationEndpoint, .pushedAuthorizationEndpoint)
        set(&change.jwksURI, given.jwksURI, .jwksURI)
        set(&change.assertionAudience, settings.assertionAudience, .assertionAudience)
        set(&change.mostDeaths, settings.deathLimit, .deathLimit)
        set(&change.daysEndedIsKept, settings.keepEndedDays, .keepEndedDays)
        set(&change.clientSecretExpiresAt, try settings.secretEnd(now: now), .clientSecretExpires)
        set(&change.scope, given.scope, .scope)
        set(&change.redirectURI, given.redirectURI, .redirectURI)
        change.apiOrigins = remove.contains(.apiOrigins) ? [] : nil
        change.addedAPIOrigins = given.apiOrigins
        change.removedAPIOrigins = try removeAPIOrigin.map { try APIOrigin($0, allowsInsecureLoopback: true) }
    }

    /// Removing the last origin differs from having none: it would allow every URL.
    private func checkRemoval(of origins: [APIOrigin], from provider: Provider) throws(Failure) {
        for origin in origins where !provider.apiOrigins.contains(origin) {
            throw .usage(
                "\(origin) is not among the provider's API origins", hint: "list them: vaultctl provider show NAME")
        }
        guard !origins.isEmpty, settings.apiOrigin.isEmpty, provider.apiOrigins.allSatisfy(origins.contains) else {
            return
        }
        throw .usage(
            "without its last API origin, the provider's tokens could be sent to every https URL",
            hint: "if that is right: vaultctl provider update NAME --remove api-origins")
    }

    private var givenIssuer: Issuer? {
        get throws { try issuer.map { try Issuer($0, allowsInsecureLoopback: allowInsecureLoopback) } }
    }

    private func set<Value>(_ field: inout ProviderChange.Field<Value>, _ value: Value?, _ name: Removable) {
        if let value { field = .set(value) }
        if remove.contains(name) { field = .remove }
    }

    /// The provider's own metadata, if it should be fetched.
    private func discovered(
        _ provider: Provider, _ profile: ProviderProfile, _ access: VaultAccess
    ) async throws -> ProviderChange {
        // An issuer whose endpoints are given by hand is not verified, as in `provider add`.
        guard rediscover || (issuer != nil && settings.tokenEndpoint == nil) else { return ProviderChange() }
        guard let issuer = try givenIssuer ?? provider.issuer else {
            throw Failure.usage("the vault does not know this provider's issuer", hint: "specify it: --issuer URL")
        }
        // A stored issuer was allowed when it was added.
        let isInsecure = allowInsecureLoopback || (self.issuer == nil && issuer.rawValue.hasPrefix("http:"))
        let metadata = try await access.discover(issuer, allowsInsecureLoopback: isInsecure)
        let method =
            try client.isGiven
            ? client.method(preferring: profile, inUse: provider.clientAuthentication) : provider.clientAuthentication
        try metadata.check(method, settings.dpop ?? provider.dpop)
        let showsCertificate =
            client.clientCertificate != nil
            || (provider.certificate != nil && !remove.contains(.clientCertificate))
        var change = ProviderChange(metadata: metadata, showsCertificate: showsCertificate)
        // Some are known to have an endpoint that their metadata omits.
        if case .remove = change.revocationEndpoint,
            let known = try profile.endpoints.revocation(of: clientID.map { try ClientID($0) } ?? provider.clientID)
        {
            change.revocationEndpoint = .set(known)
        }
        return change
    }

    /// Refuses contradictory or meaningless options.
    private func check() throws {
        let values: [(Removable, String?)] = [
            (.issuer, issuer), (.authorizationEndpoint, settings.authorizationEndpoint),
            (.revocationEndpoint, settings.revocationEndpoint),
            (.introspectionEndpoint, settings.introspectionEndpoint),
            (.deviceAuthorizationEndpoint, settings.deviceAuthorizationEndpoint),
            (.pushedAuthorizationEndpoint, settings.pushedAuthorizationEndpoint),
            (.jwksURI, settings.jwksURI), (.assertionAudience, settings.assertionAudience?.rawValue),
            (.deathLimit, settings.deathLimit.map { String($0) }),
            (.keepEndedDays, settings.keepEndedDays.map { String($0) }),
            (.clientCertificate, client.clientCertificate), (.scope, settings.scope),
            (.redirectURI, settings.redirectURI),
            (.clientSecretExpires, settings.clientSecretExpires.map { _ in "" }),
        ]
        for (field, value) in values where value != nil && remove.contains(field) {
            throw Failure.usage("--\(field.rawValue) and --remove \(field.rawValue) cannot be combined")
        }
        guard !(rediscover && remove.contains(.issuer)), !(rediscover && issuer != nil) else {
            throw Failure.usage("--rediscover uses the stored issuer", hint: "use only one of them")
        }
        guard !remove.contains(.apiOrigins) || removeAPIOrigin.isEmpty else {
            throw Failure.usage("--remove api-origins and --remove-api-origin cannot be combined")
        }
        let namesFurther = client.further.isGiven
        guard try !promoteClientSecret || !(namesFurther || client.secret.source != nil) else {
            throw Failure.usage(
                "--promote-client-secret cannot be combined with a new client secret",
                hint: "add the new one first, --second-client-secret-file PATH; promote it once the provider accepts it"
            )
        }
        guard !dropFurtherClientSecrets || !(promoteClientSecret || namesFurther) else {
            throw Failure.usage(
                "--drop-further-client-secrets cannot be combined with other changes of secrets",
                hint: "promote first, check that the new secret works, then drop the old one")
        }
        let isAsked =
            try client.isGiven || rediscover || promoteClientSecret || dropFurtherClientSecrets || namesFurther
            || !remove.isEmpty || !removeAPIOrigin.isEmpty || !settings.apiOrigin.isEmpty || settings.dpop != nil
            || settings.certificateBoundTokens != nil || clientID != nil || settings.tokenEndpoint != nil
            || settings.profile != nil || settings.profileFile != nil || values.contains { $0.1 != nil }
        guard isAsked else {
            throw Failure.usage(
                "no change specified", hint: "see what can be changed: vaultctl help provider update")
        }
    }
}
