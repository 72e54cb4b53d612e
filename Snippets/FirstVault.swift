// The first example of TokenVault's DocC page: `scripts/readme-check` holds the two to each other.

// snippet.show
import TokenVault
import TokenVaultHTTP

try KeyFiles.generate(at: "/etc/app/vault.key")
let vault = try await Vault.create(at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"))

let transport = AsyncHTTPTransport()
let metadata = try await Discovery.metadata(issuer: Issuer("https://login.acme.example"), transport: transport)
try await vault.addProvider(
    ProviderRegistration(
        name: "acme", metadata: metadata, clientID: ClientID("my-app"),
        redirectURI: RedirectURI("https://app.example/callback")))
await transport.shutdown()
await vault.close()
// snippet.hide
