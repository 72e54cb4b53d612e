import ArgumentParser
import OAuthClient
import TokenVault
import TokenVaultHTTP

extension VaultAccess {
    /// Asks a provider for its metadata. Sends no token.
    func discover(_ issuer: Issuer, allowsInsecureLoopback: Bool) async throws -> ServerMetadata {
        let transport = try makeTransport()
        do {
            let metadata = try await Discovery.metadata(
                issuer: issuer, transport: transport, allowsInsecureLoopback: allowsInsecureLoopback)
            await transport.shutdown()
            return metadata
        } catch {
            await transport.shutdown()
            throw error
        }
    }
}

extension ServerMetadata {
    /// Says at once what would otherwise fail at the first log-in.
    func check(_ authentication: String, _ dpop: DPoPPolicy) throws(Failure) {
        let methods = tokenEndpointAuthMethodsSupported
        if !methods.isEmpty, !methods.contains(authentication), authentication != "none" {
            throw .usage(
                "the provider does not accept \(authentication)",
                hint: "it accepts: \(Printable.shortened(methods.joined(separator: ", "), to: 200))")
        }
        if dpop == .required, !supportsDPoP {
            throw .usage("the provider does not support DPoP", hint: "leave out --dpop required")
        }
    }
}
