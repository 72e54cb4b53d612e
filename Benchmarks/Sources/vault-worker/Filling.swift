import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting

/// Makes a vault of the grants that a server has issued.
struct Filling {
    let path: String
    let key: String
    let issuer: String
    /// A profile's file for each client.
    let profiles: [String: String]

    /// Each line is `USER CLIENT ACCESS-TOKEN REFRESH-TOKEN EXPIRES-AT`, the last in milliseconds since 1970.
    func run() async throws {
        try KeyFiles.generate(at: key)
        let vault = try await Vault.create(at: path, unlockedBy: .keyFile(key))
        for (client, profile) in profiles {
            var registration = try ProviderRegistration(
                name: client, issuer: Issuer(issuer, allowsInsecureLoopback: true),
                tokenEndpoint: EndpointURL(issuer + "/token", allowsInsecureLoopback: true),
                clientID: ClientID(client))
            registration.profileDocument = try Array(Data(contentsOf: URL(filePath: profile)))
            try await vault.addProvider(registration)
        }
        let users = try await UserManager(vault: vault, transport: ScriptedTransport())
        try await withThrowingTaskGroup(of: Void.self) { group in
            while let line = readLine() {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 5, let expiry = Double(words[4]) else { throw BadLine() }
                group.addTask {
                    _ = try await users.addLogin(
                        userId: words[0], provider: words[1], accessToken: AccessToken(words[2]),
                        expiresAt: Date(timeIntervalSince1970: expiry / 1_000), refreshToken: RefreshToken(words[3]))
                }
            }
            try await group.waitForAll()
        }
        await vault.close()
    }
}
