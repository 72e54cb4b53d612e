import Hummingbird
import TokenVault

/// For whoever starts, watches and replaces this service.
struct HealthRoutes: Sendable {
    let vault: Vault

    func add(to router: Router<BasicRequestContext>) {
        router.get("health/live") { _, _ in Answer.json(.ok, ["status": "live"]) }
        router.get("health/ready") { _, _ in await ready() }
    }

    /// A provider that is down is no reason to be taken out of service: good tokens are served all the same.
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
