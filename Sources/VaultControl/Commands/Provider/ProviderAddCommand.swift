import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault
import VaultAdministration
import VaultStorage

struct ProviderAddCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a provider, by discovery or by its endpoints.",
        discussion: """
            vaultctl provider add acme --issuer https://login.acme.example --client-id 4711

            With --issuer, the endpoints come from the provider's metadata (RFC 8414, OpenID Connect Discovery). A \
            --profile holds the particulars of a provider, and often its endpoints; vaultctl provider profiles lists \
            them. A profile of your own (man tokenvault-adding-a-provider) is sealed with the provider, so changing the file \
            later has no effect. Endpoints that you specify take precedence; without --issuer, --token-endpoint is \
            required. vaultctl asks for a client secret if the client authentication needs one.
            """)

    @Argument(help: "The provider's name in the vault.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("The issuer, exactly as the provider documents it.", valueName: "url"))
    var issuer: String?

    @Option(help: .init("This client's id at the provider.", valueName: "id"))
    var clientID: String

    @OptionGroup var client: ClientAuthenticationOptions

    @OptionGroup var settings: ProviderSettings

    @Option(help: .init("Replace this damaged provider, and keep its logins.", valueName: "row"))
    var replaceDamaged: String?

    @Flag(help: "Ask the provider and check everything, and add nothing.")
    var dryRun = false

    @Flag(help: "Accept http:// on this machine, for development servers.")
    var allowInsecureLoopback = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        guard !name.unicodeScalars.contains(where: Printable.isDeceptive) else {
            throw Failure.usage(
                "the provider's name has a character that cannot be seen: \(Printable.named(name))",
                hint: "in a script, check its variable's value")
        }
        invocation.warnOfCommas(in: settings.scope)
        let access = VaultAccess(global, invocation)
        if let replaceDamaged { try DamagedRowSelection.check(replaceDamaged) }
        guard replaceDamaged == nil || tenant.tenant == nil else {
            throw Failure.usage("--replace-damaged and --tenant cannot be combined")
        }
        let chosen = try ChosenProfile(name: settings.profile, file: settings.profileFile)
        guard
            issuer != nil || settings.tokenEndpoint != nil || chosen.profile.endpoints.token != nil
                || chosen.profile.endpoints.issuer != nil
        else {
            throw unknownEndpoints(of: chosen.profile)
        }
        if issuer != nil, settings.tokenEndpoint != nil {
            invocation.note(
                "note: with --token-endpoint, the issuer's metadata is not fetched: name the other endpoints, too")
        }
        chosen.warn(ifNotOf: issuer, invocation)
        settings.noteSecretEnd(client.further, invocation)
        let provider = try await access.open { vault, reader in
            if tenant.tenant == nil, let other = try await TenantLookalike(name, in: vault) {
                throw Failure.usage(
                    "\(Printable.shortened(name)) would look like a provider of the tenant \(other.tenant.name)",
                    hint: "for a provider of that tenant: vaultctl provider add \(other.typed); otherwise choose "
                        + "another name")
            }
            let authentication = try client.authentication(
                client.method(preferring: chosen.profile), chosen.profile, &reader, invocation)
            ChosenProfile.warn(of: authentication.methodName, settings.dpop, notIn: chosen.profile, invocation)
            let certificate = try client.tokenCertificate(beside: authentication.methodName, &reader, invocation)
            var registration = try await registration(authentication, certificate, access, chosen.profile)
            registration.profile = chosen.profile.name
            registration.profileDocument = chosen.document
            registration.alternativeSecrets =
                try client.further.secrets(after: authentication.methodName, authentication, &reader) ?? []
            return try await add(registration, to: vault, invocation)
        }
        if dryRun { try plan(provider, invocation) } else { try invocation.emit(ProviderView.record(provider)) }
        noteGaps(of: provider, chosen.profile, invocation)
        if dryRun { return }
        if replaceDamaged != nil {
            invocation.hint("next, see with one login whether it can still be renewed: vaultctl login refresh LOGIN")
        } else if provider.authorizationEndpoint != nil {
            invocation.hint(
                "next, log a user in: vaultctl login begin --user ID --provider \(Printable.argument(provider.name))")
        }
    }

    /// Says what this provider cannot do as it is: also before it is added.
    private func noteGaps(of provider: Provider, _ profile: ProviderProfile, _ invocation: Invocation) {
        if provider.revocationEndpoint == nil {
            invocation.note("note: the provider has no revocation endpoint, so logging out cannot end its grants")
        }
        if provider.authorizationEndpoint == nil, provider.deviceAuthorizationEndpoint == nil {
            let update = dryRun ? "" : "vaultctl provider update \(Printable.argument(provider.name)) "
            invocation.note(
                "note: the provider has no authorization endpoint, so no user can log in; to add it: "
                    + "\(update)--authorization-endpoint URL")
        }
        if profile.clientIDIsDocument { noteDocument(of: provider, invocation) }
        if provider.authorizationEndpoint != nil, provider.redirectURI == nil {
            invocation.note(
                "note: no redirect URI was given; if the provider requires one: login begin --redirect-uri URL")
        }
        if provider.authorizationEndpoint != nil,
            !profile.usesPKCE(publicClient: provider.clientAuthentication == "none"),
            !(profile.sendsIDToken && provider.scope?.tokens.contains("openid") == true)
        {
            invocation.warn(
                "nothing protects its log-ins from the codes of others: its profile has no PKCE, and no id token is asked for"
            )
        }
    }

    /// The command that shows the document needs the provider in the vault.
    private func noteDocument(of provider: Provider, _ invocation: Invocation) {
        let hasDocument = (try? EndpointURL(provider.clientID.rawValue, allowsInsecureLoopback: true)) != nil
        let command = "vaultctl provider client-metadata \(Printable.argument(provider.name))"
        guard !hasDocument else {
            if !dryRun {
                invocation.note("note: the client's id is the URL of its metadata; what to serve there: \(command)")
            }
            return
        }
        invocation.note(
            "note: \(provider.profile) knows a client by the URL of its metadata, and this id is none"
                + (dryRun ? "" : ": see \(command)"))
    }

    /// Adds the provider; with `--dry-run` everything is checked in the same way, and undone.
    private func add(
        _ registration: ProviderRegistration, to vault: Vault, _ invocation: Invocation
    ) async throws -> Provider {
        do {
            guard let replaceDamaged else {
                return try await vault.register(registration, of: tenant.tenant?.tenant, isRehearsal: dryRun)
            }
            let row = try await DamagedRowSelection.id(replaceDamaged, in: vault)
            try await confirm(registration, replacing: row, in: vault, invocation)
            return try await vault.addProvider(registration, replacingDamaged: row, isRehearsal: dryRun)
        } catch let error as VaultError where error.code == .conflict && error.hint == "choose another name" {
            throw exists
        }
    }

    /// The damaged row cannot say which client its logins belong to, and a provider ends logins of another one.
    private func confirm(
        _ registration: ProviderRegistration, replacing row: DamagedRowName, in vault: Vault, _ invocation: Invocation
    ) async throws {
        guard try await DamagedRowSelection.content(of: row, in: vault).row.table == .provider else { return }
        invocation.warn(
            "the logins of \(row) will be renewed as client \(Printable.shortened(registration.clientID.rawValue)) at "
                + "\(registration.tokenEndpoint.rawValue): if another client got them, the provider ends them")
        guard !dryRun else { return }
        try confirmation.require("Replace the damaged provider", isFinal: false, invocation)
    }

    private func registration(
        _ authentication: ClientAuthentication, _ certificate: ClientCertificate?, _ access: VaultAccess,
        _ profile: ProviderProfile
    ) async throws -> ProviderRegistration {
        let clientID = try ClientID(clientID)
        let given = try ProviderValues(settings, of: clientID, allowsInsecureLoopback: allowInsecureLoopback)
        let issuer = try issuer.map { try Issuer($0, allowsInsecureLoopback: allowInsecureLoopback) }
        let known = profile.endpoints
        let policy = settings.dpop ?? DPoPPolicy(profile)
        var registration: ProviderRegistration
        if let issuer, given.tokenEndpoint == nil {
            let metadata = try await access.discover(issuer, allowsInsecureLoopback: allowInsecureLoopback)
            try metadata.check(authentication.methodName, policy)
            for text in metadata.oddities(for: authentication.methodName) { access.invocation.note("note: \(text)") }
            if profile.usesPKCE(publicClient: true), !metadata.codeChallengeMethodsSupported.isEmpty,
                !metadata.supportsPKCE
            {
                access.invocation.note("note: the metadata does not offer PKCE with S256")
            }
            registration = ProviderRegistration(
                name: name, metadata: metadata, clientID: clientID, authentication: authentication, scope: given.scope,
                redirectURI: given.redirectURI, dpop: policy, tokenCertificate: certificate)
        } else {
            guard let tokenEndpoint = given.tokenEndpoint ?? known.token else {
                throw unknownEndpoints(of: profile)
            }
            registration = ProviderRegistration(
                name: name, issuer: issuer ?? known.issuer, authorizationEndpoint: known.authorization,
                tokenEndpoint: tokenEndpoint, clientID: clientID, authentication: authentication, scope: given.scope,
                redirectURI: given.redirectURI, dpop: policy)
            registration.pushedAuthorizationEndpoint = known.pushedAuthorization
            registration.tokenCertificate = certificate
        }
        try set(given, known, of: clientID, &registration, now: access.invocation.now)
        return registration
    }

    /// Given values override those of the metadata and the profile.
    private func set(
        _ given: ProviderValues, _ known: ProviderProfile.Endpoints, of clientID: ClientID,
        _ registration: inout ProviderRegistration, now: Date
    ) throws {
        registration.authorizationEndpoint = given.authorizationEndpoint ?? registration.authorizationEndpoint
        registration.revocationEndpoint =
            try given.revocationEndpoint ?? registration.revocationEndpoint ?? known.revocation(of: clientID)
        registration.pushedAuthorizationEndpoint =
            given.pushedAuthorizationEndpoint ?? registration.pushedAuthorizationEndpoint
        registration.deviceAuthorizationEndpoint =
            given.deviceAuthorizationEndpoint ?? registration.deviceAuthorizationEndpoint
        registration.jwksURI = given.jwksURI ?? registration.jwksURI
        registration.assertionAudience = settings.assertionAudience
        registration.mostDeaths = settings.deathLimit
        registration.daysEndedIsKept = settings.keepEndedDays
        registration.clientSecretExpiresAt = try settings.secretEnd(now: now)
        registration.apiOrigins = given.apiOrigins
        registration.introspectionEndpoint = given.introspectionEndpoint ?? registration.introspectionEndpoint
        registration.bindsTokensToCertificate =
            settings.certificateBoundTokens ?? registration.bindsTokensToCertificate
    }

    /// A provider that has the name of a profile is most likely described by it.
    static func profileHint(_ name: String?, _ profile: String?) -> String? {
        guard profile == nil, let name = name?.lowercased(),
            let known = ProviderProfile.shipped.first(where: { $0.name == name })
        else { return nil }
        return "there is a profile for \(known.title): --profile \(known.name)"
    }

    private func unknownEndpoints(of profile: ProviderProfile) -> Failure {
        Failure(
            .usage, "the provider's endpoints are unknown",
            hints: (Self.profileHint(name, settings.profile ?? settings.profileFile).map { [$0] } ?? [])
                + (Self.issuers[profile.name].map { ["its issuer is of the form --issuer \($0)"] } ?? [])
                + ["discover them with --issuer URL, or specify --token-endpoint and --authorization-endpoint"])
    }

    /// For providers whose issuer includes the customer's name.
    private static let issuers = [
        "entra": "https://login.microsoftonline.com/TENANT-ID/v2.0", "okta": "https://YOUR-DOMAIN.okta.com",
        "auth0": "https://YOUR-TENANT.auth0.com/", "keycloak": "https://YOUR-HOST/realms/YOUR-REALM",
    ]

    private var exists: Failure {
        Failure(
            .usage, code: "providerExists", "there is already a provider \(Printable.shortened(name))",
            hints: ["to change it: vaultctl provider update NAME; or choose another name for this one"])
    }

    /// Shows the provider that would be added. Only its metadata was requested.
    private func plan(_ provider: Provider, _ invocation: Invocation) throws {
        try invocation.emit([
            Field("name", provider.name), .data("isDryRun", true), Field("issuer", provider.issuer?.rawValue),
            Field("authorizationEndpoint", provider.authorizationEndpoint?.rawValue),
            Field("tokenEndpoint", provider.tokenEndpoint.rawValue),
            Field("revocationEndpoint", provider.revocationEndpoint?.rawValue).orWords("none"),
            Field("clientId", provider.clientID.rawValue), Field("profile", provider.profile),
        ])
        invocation.note("nothing was added")
    }
}
