import ArgumentParser
import OAuthClient
import TokenVault
import VaultAdministration

struct ProviderClientMetadataCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-metadata",
        abstract: "Print the document of a client whose id is a URL, or check what is served there.",
        discussion: """
            A provider that takes client-id metadata documents fetches the client's metadata from the client's id, and the \
            client is registered nowhere. Serve what this prints at that URL, as application/json.

            vaultctl provider client-metadata acme >client-metadata.json
            vaultctl provider client-metadata acme --check

            A provider may end grants when the client's key is gone from the document. So serve the next key beside it for a \
            day before you change it:

            vaultctl provider client-metadata acme --next-key-file new.pem >client-metadata.json
            vaultctl provider update acme --client-key-file new.pem
            vaultctl provider client-metadata acme >client-metadata.json

            With --check, the exit code is 3 if something else is served than what this prints, and 9 if nothing can be \
            fetched.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("The name that users see when they are asked for their consent.", valueName: "name"))
    var clientName: String?

    @Option(help: .init("A further place where callbacks may go. Repeatable.", valueName: "url"))
    var redirectURI: [String] = []

    @Option(
        help: .init("The client's next private key in PEM, whose public half is shown, too.", valueName: "path"),
        completion: .file())
    var nextKeyFile: String?

    @Option(help: .init("The id of the next key.", valueName: "kid"))
    var nextKeyID: String?

    @Flag(help: "Fetch the document from its URL, and say what is different.")
    var check = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard nextKeyID == nil || nextKeyFile != nil else {
            throw ValidationError("--next-key-id needs --next-key-file")
        }
    }

    func run(_ invocation: Invocation) async throws {
        let uris = try redirectURI.map { try RedirectURI($0) }
        var reader = SecretReader(invocation.console)
        let nextKey = try nextKeyFile.map { path in
            do {
                let pem = try reader.read(
                    "Next client key", for: .privateKey, from: .file(path, from: "--next-key-file"))
                return try ClientAssertionKey(pem: pem, keyID: nextKeyID)
            } catch is OAuthValueError {
                throw Failure.usage(
                    "\(Printable.path(path)) has no private key for assertions (--next-key-file)",
                    hint: "use a key on P-256 or an RSA key in PEM: openssl ecparam -name prime256v1 -genkey -noout")
            }
        }
        let access = VaultAccess(global, invocation)
        let document = try await access.open { vault in
            try await vault.clientMetadataDocument(
                ofProvider: tenant.provider(name), clientName: clientName, redirectURIs: uris, nextKey: nextKey)
        }
        guard check else { return try invocation.console.write(document.text, to: .output) }
        try await check(document, access, invocation)
    }

    private func check(
        _ document: ClientMetadataDocument, _ access: VaultAccess, _ invocation: Invocation
    ) async throws {
        let transport = try access.makeTransport()
        let found: Result<[ClientMetadataDocument.Difference], HTTPTransportError>
        do throws(HTTPTransportError) {
            found = .success(try await document.differencesAtURL(over: transport))
        } catch {
            found = .failure(error)
        }
        await transport.shutdown()
        let url = Printable.shortened(document.clientID.rawValue, to: 200)
        let hint = "serve there what this prints: vaultctl provider client-metadata \(Printable.argument(name))"
        switch found {
        case .failure(let error):
            throw Failure(
                .provider, code: "unreachable", "\(url) cannot be reached: \(error)", hints: [hint])
        case .success(let differences):
            try invocation.emit(
                OutputRecord([
                    .data("clientId", document.clientID.rawValue), .data("isServed", differences.isEmpty),
                    .data(
                        "differences",
                        differences.map { difference -> OutputRecord in
                            [.data("member", difference.member), .data("text", Printable.shortened(difference.words))]
                        }),
                ]),
                text: invocation.text(
                    [Field("clientId", document.clientID.rawValue)]
                        + OutputRecord(
                            differences.map {
                                .line("different", ($0.member.map { "\($0) " } ?? "") + Printable.shortened($0.words))
                            })))
            guard !differences.isEmpty else { return invocation.note("what is served there is this client") }
            invocation.hint(hint)
            throw ExitRequest(status: .partlyDone)
        }
    }
}
