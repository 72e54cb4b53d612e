// The first example of TokenVault's DocC page: `scripts/readme-check` holds the two to each other.

// snippet.show
import TokenVault
import TokenVaultHTTP

try KeyFiles.generate(at: "/etc/app/vault.key")
let vault = try await Vault.create(at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"))

let transport = AsyncHTTPTransport()
let users = try await UserManager(vault: vault, transport: transport)
try await users.addProvider(
    "acme", issuer: "https://login.acme.example", clientID: "my-app", redirectURI: "https://app.example/callback")
await vault.close()
await transport.shutdown()
// snippet.hide
