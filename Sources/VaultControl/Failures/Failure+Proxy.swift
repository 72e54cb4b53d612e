import OAuthClient
import TokenVault

extension Failure {
    /// People set a proxy for all programs of a machine and expect vaultctl to use it, too.
    ///
    /// - Parameter proxy: the value of `--proxy`.
    mutating func noteProxy(for error: any Error, in environment: [String: String], proxy: String?) {
        // What is refused, or not found, is then the proxy: nothing else was tried.
        if let proxy = proxy ?? environment["TOKENVAULT_PROXY"], !proxy.isEmpty, Self.isOfNetwork(error) {
            hints.insert(
                "requests to other machines go through the proxy \(Printable.shortened(proxy, to: 200)): check it first",
                at: 0)
        }
        let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        guard Self.isOfNetwork(error), environment["TOKENVAULT_PROXY"] == nil,
            let name = names.first(where: { environment[$0]?.isEmpty == false })
        else { return }
        hints.append("\(name) is set and has no effect here: use --proxy URL")
    }

    private static func isOfNetwork(_ error: any Error) -> Bool {
        if let failure = error as? Failure {
            return ["connect", "dns", "tls", "timeout", "reset", "proxy"].contains(failure.cause)
        }
        let failure: HTTPTransportError.Code? =
            switch error {
            case let error as VaultError: error.answer?.failure ?? (error.code == .network ? .connect : nil)
            case let error as DiscoveryError: error.transportError?.code
            case let error as HTTPTransportError: error.code
            default: nil
            }
        guard let failure else { return false }
        return [.connect, .dns, .tls, .timeout, .reset, .proxy].contains(failure)
    }
}
