import ArgumentParser
import OAuthClient
import TokenVault
import VaultAdministration

struct ProviderRegistrationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registration",
        abstract: "The client's own registration at a provider (RFC 7592).",
        subcommands: [
            RegistrationShowCommand.self, RegistrationUpdateCommand.self, RegistrationDeleteCommand.self,
        ])
}

struct RegistrationShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Ask the provider how this client is registered.")

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let facts = try await VaultAccess(global, invocation).manage {
            try await $0.registration(ofProvider: tenant.provider(name))
        }
        try invocation.emit(RegistrationView.record(facts))
    }
}

struct RegistrationUpdateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change what is registered at the provider.",
        discussion: """
            vaultctl provider registration update acme --redirect-uri https://new.example/callback

            Other fields stay as registered. If the provider replaces the client's secret, the new one is stored \
            before anything else.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("Where callbacks may go, all of them. Repeatable.", valueName: "url"))
    var redirectURI: [String] = []

    @Option(help: .init("The name that users see.", valueName: "name"))
    var clientName: String?

    @Option(help: .init("What the client may ask for.", valueName: "scope"))
    var scope: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        guard !redirectURI.isEmpty || clientName != nil || scope != nil else {
            throw Failure.usage(
                "no change specified", hint: "see what can be changed: vaultctl help provider registration update")
        }
        invocation.warnOfCommas(in: scope)
        let change = ClientRegistrationChange(
            redirectURIs: redirectURI.isEmpty ? nil : try redirectURI.map { try RedirectURI($0) },
            clientName: clientName, scope: try scope.map { try Scope($0, of: "--scope") })
        let facts = try await VaultAccess(global, invocation).manage {
            try await $0.updateRegistration(ofProvider: tenant.provider(name), change)
        }
        try invocation.emit(RegistrationView.record(facts))
        invocation.note("changed the registration at \(Printable.shortened(name))")
    }
}

struct RegistrationDeleteCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the registration at the provider, and every grant with it.")

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Flag(help: "Delete it even if logins hold refresh tokens: they are lost.")
    var force = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).manage { users in
            _ = try await users.vault.provider(named: tenant.provider(name))
            try confirmation.require("Delete the registration at \(Printable.shortened(name))", invocation)
            try await users.deleteRegistration(ofProvider: tenant.provider(name), force: force)
        }
        try invocation.emit(OutputRecord([.data("deleted", name)]), text: "")
        invocation.note("deleted the registration at \(Printable.shortened(name)); the provider is still in the vault")
    }
}

/// How a registration is displayed.
private enum RegistrationView {
    static func record(_ facts: RegisteredClientView) -> OutputRecord {
        [
            Field("clientId", facts.clientID.rawValue), Field("clientAuthentication", facts.authenticationMethod),
            Field("clientName", facts.clientName), Field("scope", facts.scope),
            Field("clientSecretExpiresAt", facts.secretExpiresAt),
            .data("redirectUris", facts.redirectURIs), .data("grantTypes", facts.grantTypes),
        ]
    }
}
