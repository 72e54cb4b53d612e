import ArgumentParser
import OAuthClient
import TokenVault
import TokenVaultHTTP

extension VaultAccess {
    /// Requests a provider's metadata. Sends no token.
    func discover(_ issuer: Issuer, allowsInsecureLoopback: Bool) async throws -> ServerMetadata {
        let text = issuer.rawValue
        if let end = text.firstRange(of: "/.well-known/") {
            throw Failure.usage(
                "the issuer is not the address of its metadata document",
                hint: "leave the end out: --issuer \(Printable.shortened(String(text[..<end.lowerBound]), to: 200))")
        }
        let transport = try makeTransport()
        do {
            let metadata = try await Discovery.metadata(
                issuer: issuer, transport: transport, allowsInsecureLoopback: allowsInsecureLoopback)
            await transport.shutdown()
            if !metadata.unreadMembers.isEmpty {
                invocation.note(
                    "note: the metadata is invalid, and was read as far as possible: "
                        + metadata.unreadMembers.joined(separator: ", "))
            }
            return metadata
        } catch {
            await transport.shutdown()
            throw error
        }
    }
}

extension VaultAccess {
    /// Whether the provider's signing keys can be fetched.
    func canReadKeys(at endpoint: EndpointURL) async throws -> Bool {
        let transport = try makeTransport()
        let keys = await JSONWebKeySet.fetch(from: endpoint, over: transport)
        await transport.shutdown()
        return keys != nil
    }
}

extension ServerMetadata {
    /// Reports at once what would otherwise fail at the first log-in.
    func check(_ authentication: String, _ dpop: DPoPPolicy) throws(Failure) {
        guard let refusal = refusal(of: authentication, dpop) else { return }
        switch refusal {
        case .authentication(_, let accepted):
            throw .usage(
                refusal.reason, hint: "it accepts: \(Printable.shortened(accepted.joined(separator: ", "), to: 200))")
        case .dpop: throw .usage(refusal.reason, hint: "leave out --dpop required")
        }
    }
}

extension ServerMetadata {
    /// What the document says against log-ins of this client. Some servers do more than they say.
    func oddities(for authentication: String) -> [String] {
        var texts: [String] = []
        // The default of RFC 8414, and what many servers list that take clients without a secret, too.
        if authentication == "none",
            tokenEndpointAuthMethodsSupported.allSatisfy({ $0 != "none" && !$0.hasPrefix("client_secret_") })
        {
            texts.append("the metadata does not offer access without client authentication")
        }
        if !grantTypesSupported.contains("authorization_code") {
            texts.append("the metadata does not offer the grant authorization_code, which a log-in needs")
        }
        if !responseTypesSupported.isEmpty, !responseTypesSupported.contains("code") {
            texts.append("the metadata does not offer the response type code, which a log-in needs")
        }
        return texts
    }
}
