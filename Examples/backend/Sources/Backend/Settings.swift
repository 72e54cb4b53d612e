import FoundationEssentials
import Hummingbird
import Logging
import TokenVault

/// The settings from the environment.
struct Settings: Sendable {
    let port: Int
    /// This service's URL for browsers.
    let publicURL: String
    let redirectURI: RedirectURI
    let vaultPath: String
    let keyFile: String
    /// The provider's name in the vault.
    let provider: String
    /// The URL fetched for a user.
    let apiURL: URL
    /// Allows a provider on this machine without TLS: for development only.
    let allowsInsecureLoopback: Bool
    let logLevel: Logger.Level

    init() throws {
        let environment = Environment()
        func required(_ name: String) throws -> String {
            guard let value = environment.get(name), !value.isEmpty else { throw MissingSetting(name: name) }
            return value
        }
        port = environment.get("BACKEND_PORT", as: Int.self) ?? 8080
        publicURL = environment.get("BACKEND_PUBLIC_URL") ?? "http://127.0.0.1:\(port)"
        redirectURI = try RedirectURI(publicURL + "/callback")
        vaultPath = try required("BACKEND_VAULT")
        keyFile = try required("BACKEND_KEY_FILE")
        provider = try required("BACKEND_PROVIDER")
        guard let url = URL(string: try required("BACKEND_API_URL")) else {
            throw MissingSetting(name: "BACKEND_API_URL")
        }
        apiURL = url
        allowsInsecureLoopback = environment.get("BACKEND_ALLOW_INSECURE_LOOPBACK") == "1"
        logLevel = environment.get("BACKEND_LOG_LEVEL").flatMap(Logger.Level.init(rawValue:)) ?? .info
    }

    /// Whether cookies are restricted to TLS, because the public URL uses it.
    var usesTLS: Bool { publicURL.hasPrefix("https://") }
}

struct MissingSetting: Error, CustomStringConvertible {
    let name: String
    var description: String { "the environment variable \(name) is missing" }
}
