import Foundation
import OAuthClient
import TokenVault
import TokenVaultPostgreSQL
import VaultAdministration
import VaultStorage

/// What the processes of several machines do before and after they are disturbed.
enum Fleet {
    struct BadLine: Error {}

    /// Makes a vault of the grants that a server has issued. Each line of their file is
    /// `USER CLIENT ACCESS-TOKEN REFRESH-TOKEN`.
    static func fill(_ options: Options) async throws {
        let key = try options.required("key")
        try KeyFiles.generate(at: key)
        let location = try VaultLocation.postgreSQL(
            options.required("vault"), stateDirectory: options.required("state"))
        let vault = try await Vault.create(in: location, unlockedBy: .keyFile(key))
        let issuer = try options.required("issuer")
        let lines = try String(contentsOfFile: options.required("grants"), encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
        for client in Set(lines.compactMap { $0.dropFirst().first }) {
            var registration = try ProviderRegistration(
                name: client, issuer: Issuer(issuer, allowsInsecureLoopback: true),
                tokenEndpoint: EndpointURL(issuer + "/token", allowsInsecureLoopback: true), clientID: ClientID(client))
            registration.profileDocument = try Array(
                Data(contentsOf: URL(filePath: options.required("profiles") + "/\(client).json")))
            try await vault.addProvider(registration)
        }
        let service = try await Service(options)
        for words in lines {
            guard words.count == 4 else { throw BadLine() }
            _ = try await service.users.addLogin(
                userId: words[0], provider: words[1], accessToken: AccessToken(words[2]),
                expiresAt: Date().addingTimeInterval(3_600), refreshToken: RefreshToken(words[3]))
        }
        await service.close()
        await vault.close()
        say("filled \(lines.count)")
    }

    /// Ends what is in doubt, renews every login that lives if it is asked to, and verifies the vault.
    static func settle(_ options: Options) async throws {
        let service = try await Service(options)
        for _ in 0..<2 { _ = try await service.users.recover() }
        while try await !service.vault.diagnosis().openRenewals.isEmpty {
            try await Task.sleep(for: .milliseconds(100))
            _ = try await service.users.recover()
        }
        let renews = options.text("renew") != nil
        for login in try await logins(service.vault) where renews && login.failure == nil {
            do {
                let token = try await service.users.updateAccessToken(userId: login.userId)
                say("renewed \(login.userId) \(token.generation)")
            } catch {
                say("failed \(login.userId) \(name(of: error))")
            }
        }
        for finding in try await service.vault.verify().findings {
            say("finding \(finding)".replacing("\n", with: " "))
        }
        await service.close()
    }

    /// Tells what the vault holds.
    static func look(_ options: Options) async throws {
        let service = try await Service(options)
        for login in try await logins(service.vault) {
            let end = login.failure.map { "\($0.reason)" } ?? "alive"
            say("login \(login.userId) \(login.provider ?? "-") \(login.generation) \(end)")
        }
        await service.close()
    }

    private static func logins(_ vault: Vault) async throws -> [Login] {
        try await vault.logins(limit: 10_000).map { entry in
            switch entry {
            case .login(let login): login
            default: throw BadLine()
            }
        }
    }
}
