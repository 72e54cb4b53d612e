import ArgumentParser
import DevAuthorizationServer

struct ResourceOptions: ParsableArguments {
    @Option(
        name: .customLong("resource-metadata"),
        help: .init(
            """
            Where /resource has its metadata (RFC 9728): at a URL that only the challenge names, at the well-known place \
            of its path (path-unnamed: not named in the challenge), or at that of the root.
            """, valueName: "place"))
    var metadataPlace: ProtectedResourceBehaviour.MetadataPlace?

    @Option(
        name: .customLong("resource-authorization-server"),
        help: .init("An issuer that the metadata names instead of this server. Repeatable.", valueName: "url"))
    var authorizationServer: [String] = []

    @Option(
        name: .customLong("resource-hostility"),
        help: .init("What /resource and this server do to clients that trust them. Repeatable.", valueName: "name"))
    var hostility: [ResourceHostility] = []

    /// Comes after the profile, which may bring a resource with metadata. Each of the options brings one, too.
    func apply(to configuration: inout AuthorizationServerConfiguration) {
        let isWanted = metadataPlace != nil || !authorizationServer.isEmpty || !hostility.isEmpty
        guard isWanted else { return }
        var resource = configuration.protectedResource ?? .sample
        if let metadataPlace { resource.metadataPlace = metadataPlace }
        if !authorizationServer.isEmpty { resource.authorizationServers = authorizationServer }
        resource.hostility = Set(hostility)
        configuration.protectedResource = resource
    }
}
