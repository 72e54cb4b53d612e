import TokenVault
import VaultServer

/// Names in a policy that stand for nothing here. They match no request: a misspelt one shows only in a program that
/// gets no token.
struct PolicyNames: Sendable {
    let file: PolicyFile
    let sockets: [String]
    let vault: Vault
    let invocation: Invocation

    /// A name may be there for later, so the policy is used all the same.
    func warn(of policy: ServePolicy) async {
        guard let all = try? await vault.providers().map(\.name) else { return }
        let providers = all.map { Tenant.of($0)?.userId ?? $0 }
        for client in policy.clients {
            let place = "\(Printable.path(file.path)), line \(client.line)"
            for name in client.namedProviders where !providers.contains(name) {
                let near = EditDistance.near(name, among: providers).first
                let meant = near.map { "; did you mean \(Printable.shortened($0))" } ?? ""
                invocation.warn("\(place): the vault has no provider \(Printable.named(name))\(meant)")
            }
            if let socket = client.identity.socket, !sockets.contains(socket) {
                invocation.warn(
                    "\(place): no socket has the name \(Printable.named(socket)); the sockets are: "
                        + sockets.map { Printable.named($0) }.joined(separator: ", "))
            }
        }
    }
}
