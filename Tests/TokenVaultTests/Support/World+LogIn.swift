import OAuthClient
import TokenVaultTesting

@testable import TokenVault

extension World {
    /// A log-in that waits for its provider, which answers when the gate opens.
    func startLogIn(answer: ScriptedReply) async -> (logIn: Task<Login, any Error>, gate: Gate) {
        let gate = Gate()
        transport.enqueue(answer.behind(gate))
        let logIn = Task {
            try await users.logIn(
                LogInRequest(userId: "alice", provider: "acme"), authorizationCode: AuthorizationCode("code"),
                codeVerifier: CodeVerifier.random())
        }
        await transport.waitForRequests(1)
        return (logIn, gate)
    }
}
