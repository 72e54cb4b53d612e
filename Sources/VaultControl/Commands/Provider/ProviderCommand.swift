import ArgumentParser

struct ProviderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider",
        abstract: "Authorization servers, and this client's registration with them.",
        subcommands: [
            ProviderAddCommand.self, ProviderListCommand.self, ProviderShowCommand.self, ProviderUpdateCommand.self,
            ProviderRemoveCommand.self, ProviderAcceptDeathsCommand.self, ProviderDriftCommand.self,
            ProviderTestCommand.self, ProviderProfilesCommand.self,
            ProviderRegisterCommand.self,
            ProviderRegistrationCommand.self, ProviderClientMetadataCommand.self,
        ])
}
