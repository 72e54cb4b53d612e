// The README's example: `scripts/readme-check` holds the two to each other.

// snippet.show
import TokenVault
import TokenVaultHTTP

// snippet.hide
let callbackURL = "https://app.example/callback?code=4711&state=0815"
// snippet.show
let vault = try await Vault.open(at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"))
let users = try await UserManager(vault: vault, transport: AsyncHTTPTransport())

// Log alice in: send her browser to `request.url`; her callback brings back the code.
let request = try await users.beginLogIn(userId: "alice", provider: "acme")
let login = try await users.completeLogIn(callbackURL: callbackURL)

// From now on: a token that is good for at least five minutes, renewed when it must be.
let token = try await users.accessToken(userId: "alice")
// snippet.hide
print(request.url, login.id, token)
