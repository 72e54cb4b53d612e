// The README's example: `scripts/readme-check` holds the two to each other.

// snippet.show
import TokenVault
import TokenVaultHTTP

// snippet.hide
let callbackURL = "https://app.example/callback?code=4711&state=0815"
// snippet.show
let vault = try await Vault.open(at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"))
let users = try await UserManager(vault: vault, transport: AsyncHTTPTransport())

// Log alice in: give her browser a cookie, and send it to `request.url`; its callback brings back the code and the cookie.
let request = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
let cookie = request.binding.reveal()  // Set-Cookie: login=…; HttpOnly; Secure; SameSite=Lax
let done = try await users.completeLogIn(.url(callbackURL), boundTo: BrowserBinding(cookie))

// From now on: a token that is good for at least five minutes, renewed when it must be.
let token = try await users.accessToken(userId: "alice")
// snippet.hide
print(request.url, done.login.id, token)
