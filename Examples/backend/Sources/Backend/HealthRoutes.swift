import Hummingbird
import TokenVault

/// Health checks for the systems that start, monitor and replace this service.
struct HealthRoutes: Sendable {
    let vault: Vault

    func add(to router: Router<BasicRequestContext>) {
        router.get("health/live") { _, _ in Answer.json(.ok, ["status": "live"]) }
        router.get("health/ready") { _, _ in await ready() }
    }

    /// A provider's outage does not make this service unready: it still serves valid tokens.
    private func ready() async -> Response {
        do {
            try await vault.checkReadiness()
            return Answer.json(.ok, ["status": "ready"])
        } catch {
            let code = (error as? VaultError)?.code.name ?? "unknown"
            return Answer.json(.serviceUnavailable, ["status": "not ready", "reason": code])
        }
    }
}
