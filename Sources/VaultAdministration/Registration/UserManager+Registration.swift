package import OAuthClient
import Synchronization
package import TokenVault
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Registers a client at a provider that lets clients register themselves (RFC 7591), and adds the provider.
    ///
    /// The client's id and secret, and the token for managing the registration, are sealed in the vault. The request is
    /// sent once. If the vault cannot store the reply, the registration is deleted again.
    ///
    /// - Parameters:
    ///   - name: The name under which this vault knows it. It must be free.
    ///   - issuer: The issuer, exactly as the provider documents it.
    ///   - client: The client to register.
    ///   - initialAccessToken: Needed where not everyone may register a client. It is not stored.
    /// - Throws: ``VaultError``: ``VaultError/Code/protocolViolation`` if the provider may have registered a client
    ///   that is unknown here; for other codes see
    ///   ``addProvider(_:issuer:clientID:authentication:scope:redirectURI:dpop:tokenCertificate:)``.
    @discardableResult
    package func registerProvider(
        _ name: String, issuer: String, _ client: ClientRegistration, initialAccessToken: AccessToken? = nil
    ) async throws -> Provider {
        try await registerProvider(name, of: nil, issuer: issuer, client, initialAccessToken: initialAccessToken)
    }

    /// The same for a tenant, under its own name of the provider.
    package func registerProvider(
        _ name: String, of tenant: Tenant?, issuer: String, _ client: ClientRegistration,
        initialAccessToken: AccessToken?
    ) async throws -> Provider {
        try vault.requireOpen()
        let isInsecure = context.allowsInsecureLoopback
        let server = try VaultError.translatingValues { try Issuer(issuer, allowsInsecureLoopback: isInsecure) }
        guard !name.isEmpty, name.utf8.count <= 128 else {
            throw VaultError(.invalidArgument, "a provider's name has 1 to 128 bytes")
        }
        return try await registerProvider(
            name, of: tenant, metadata(of: server), client, initialAccessToken: initialAccessToken)
    }

    /// The same at a server whose metadata is known.
    package func registerProvider(
        _ name: String, of tenant: Tenant?, _ metadata: ServerMetadata, _ client: ClientRegistration,
        initialAccessToken: AccessToken? = nil
    ) async throws -> Provider {
        guard let endpoint = metadata.registrationEndpoint else {
            throw VaultError(
                .invalidArgument, "the provider does not let clients register themselves",
                hint: "register the client in the provider's console, and add the provider with its client id")
        }
        if let refusal = metadata.refusal(of: client.method, client.dpop) {
            throw VaultError(.invalidArgument, refusal.reason)
        }
        // Predictable failures are found before a client is registered.
        try await vault.checkWriting()
        if (try? await vault.provider(named: tenant?.qualify(name) ?? name)) != nil {
            throw VaultError(.conflict, "there is a provider of this name already", hint: "choose another name")
        }
        try await vault.refuseSharing(
            ProviderRegistration(
                name: name, metadata: metadata, clientID: try ClientID("unregistered"),
                redirectURI: client.redirectURIs.first), of: tenant)
        let registrar = RegistrationEndpoint(transport: context.transport)
        let outcome = await registrar.register(client.metadata(at: metadata), at: endpoint, token: initialAccessToken)
        guard case .registered(let registered) = outcome else { throw VaultError(registration: outcome, isNew: true) }
        // From here on the registration is known only to this task, cancelled or not.
        return try await Task {
            try await keep(registered, as: name, of: tenant, client, metadata, registrar)
        }.value
    }

    private func keep(
        _ registered: ClientInformation, as name: String, of tenant: Tenant?, _ client: ClientRegistration,
        _ metadata: ServerMetadata, _ registrar: RegistrationEndpoint
    ) async throws -> Provider {
        do {
            guard let authentication = client.authentication(of: registered) else {
                throw VaultError(
                    .protocolViolation, "the provider registered a way to authenticate that cannot be used")
            }
            var registration = ProviderRegistration(
                name: name, metadata: metadata, clientID: registered.clientID, authentication: authentication,
                scope: client.logInScope ?? client.scope, redirectURI: client.redirectURIs.first, dpop: client.dpop)
            registration.isOfResources = client.isOfResources
            registration.management = registered.management
            // A server may also give a secret to a client that has no use for it.
            if authentication.methodName.hasPrefix("client_secret") {
                registration.clientSecretExpiresAt = registered.secretExpiresAt
            }
            let provider = try await vault.register(registration, of: tenant)
            try? await audit(.clientRegistered, provider.name, registered.clientID)
            return provider
        } catch {
            let error = error as? VaultError ?? VaultError(.conflict, "the provider could not be added")
            if let management = registered.management, case .deleted = await registrar.delete(management) {
                throw VaultError(error.code, "\(error.message); the registration was withdrawn", hint: error.hint)
            }
            throw VaultError(
                error.code,
                "\(error.message); the client \(registered.clientID.rawValue) stays registered at the provider",
                hint: "delete it in the provider's console")
        }
    }

    /// The registration as the provider has it now (RFC 7592 §2.1). Values that the provider replaces meanwhile, a
    /// secret or the token for the registration, are stored before this returns.
    package func registration(ofProvider name: String) async throws -> RegisteredClientView {
        RegisteredClientView(try await read(name).client)
    }

    /// Changes the registration at the provider (RFC 7592 §2.2).
    @discardableResult
    package func updateRegistration(
        ofProvider name: String, _ change: ClientRegistrationChange
    ) async throws -> RegisteredClientView {
        let (client, management) = try await read(name)
        let outcome = await RegistrationEndpoint(transport: context.transport).update(
            client, change.members, management)
        let changed = try await keep(outcome, of: name, change)
        try? await audit(.clientRegistrationChanged, name, changed.clientID)
        return RegisteredClientView(changed)
    }

    /// Deletes the registration at the provider (RFC 7592 §2.3), and with it every grant of this client. The provider
    /// stays in the vault until it is removed.
    ///
    /// - Parameters:
    ///   - name: The provider's name in the vault.
    ///   - force: Deletes it even if logins hold refresh tokens from it: they are lost.
    package func deleteRegistration(ofProvider name: String, force: Bool = false) async throws {
        let (stored, management) = try await management(of: name)
        let logins = try await refreshableLogins(of: stored.handle)
        guard force || logins == 0 else {
            throw VaultError(
                .inUse, "\(logins) login\(logins == 1 ? "" : "s") would be lost with the registration",
                hint: "end them first, or force it")
        }
        let outcome = await RegistrationEndpoint(transport: context.transport).delete(management)
        switch outcome {
        case .deleted: break
        // Someone else has deleted it, or its token is useless now: there is nothing left to manage.
        default: throw VaultError(registration: outcome, isNew: false)
        }
        let store = vault.store
        let clientID = stored.record.clientID
        try await Task {
            try await VaultError.translating {
                _ = try await store.updateProvider(stored.handle) { record, _ in
                    (record.registrationURI, record.registrationToken) = (nil, nil)
                    return []
                }
                try await store.record(
                    AuditEvent(.clientRegistrationDeleted, [.init("clientId", clientID)]), of: stored.handle)
            }
        }.value
    }

    // MARK: -

    private func management(of name: String) async throws -> (StoredProvider, RegistrationManagement) {
        let stored = try await VaultError.translating { try await vault.store.provider(named: name) }
        guard let management = try VaultError.translatingValues({ try stored.record.management }) else {
            throw VaultError(
                .invalidArgument, "the registration at this provider is not managed by the vault",
                hint: "it was made elsewhere: change it there")
        }
        return (stored, management)
    }

    private func refreshableLogins(of provider: ProviderHandle) async throws -> Int {
        try await VaultError.translating {
            let count = Mutex(0)
            _ = try await vault.store.updateProvider(provider) { _, use in
                count.withLock { $0 = use.refreshableLogins }
                return []
            }
            return count.withLock { $0 }
        }
    }

    private func read(_ name: String) async throws -> (client: ClientInformation, RegistrationManagement) {
        let (_, management) = try await management(of: name)
        let outcome = await RegistrationEndpoint(transport: context.transport).read(management)
        let client = try await keep(outcome, of: name)
        return (client, client.management ?? management)
    }

    /// Stores values that the provider has replaced, before anything else is done with the reply.
    private func keep(
        _ outcome: RegistrationOutcome, of name: String, _ change: ClientRegistrationChange? = nil
    ) async throws -> ClientInformation {
        guard case .registered(let client) = outcome else { throw VaultError(registration: outcome, isNew: false) }
        let store = vault.store
        try await Task {
            try await VaultError.translating {
                let handle = try await store.provider(named: name).handle
                _ = try await store.updateProvider(handle) { record, _ in
                    guard record.clientID == client.clientID.rawValue else {
                        throw VaultError(
                            .protocolViolation, "the provider's reply is about another client",
                            hint: "the registration is that of the client \(client.clientID.rawValue): "
                                + "vaultctl provider update NAME --client-id \(client.clientID.rawValue)")
                    }
                    record.take(client, change)
                    return []
                }
            }
        }.value
        return client
    }

    private func audit(_ kind: AuditKind, _ name: String, _ client: ClientID) async throws {
        try await VaultError.translating {
            let handle = try await vault.store.provider(named: name).handle
            try await vault.store.record(AuditEvent(kind, [.init("clientId", client.rawValue)]), of: handle)
        }
    }
}

extension ProviderRecord {
    fileprivate mutating func take(_ client: ClientInformation, _ change: ClientRegistrationChange?) {
        if let management = client.management { set(management) }
        if let secret = client.clientSecret, clientAuthentication.hasPrefix("client_secret") {
            let secret = SecretBytes(utf8: secret.reveal())
            // The previous one stays in second place: the provider may still accept it for a while.
            if clientSecrets.first != secret {
                clientSecrets = [secret] + clientSecrets.filter { $0 != secret }.prefix(1)
            }
            clientSecretExpiresAt = client.secretExpiresAt.map { Timestamp($0) }
        }
        if let uris = change?.redirectURIs, !uris.contains(where: { $0.rawValue == redirectURI }) {
            redirectURI = uris.first?.rawValue
        }
        if let scope = change?.scope { defaultScope = scope.description }
    }
}

extension ClientRegistrationChange {
    fileprivate var members: [(name: String, json: String)] {
        var members: [(String, String)] = []
        if let redirectURIs {
            let uris = redirectURIs.map { JSONText.quote($0.rawValue) }
            members.append(("redirect_uris", "[" + uris.joined(separator: ",") + "]"))
        }
        if let clientName { members.append(("client_name", JSONText.quote(clientName))) }
        if let scope { members.append(("scope", JSONText.quote(scope.description))) }
        return members
    }
}

extension VaultError {
    /// The error for a registration that was not made, read or changed.
    fileprivate init(registration outcome: RegistrationOutcome, isNew: Bool) {
        switch outcome {
        case .registered, .deleted:
            self.init(.protocolViolation, "the provider's reply does not fit the request")
        case .refused(let answer):
            self.init(
                .invalidArgument, "the provider refused the requested registration",
                hint: "change the request as the provider's answer says", answer: answer)
        case .unauthorized(let answer):
            self.init(
                .providerMisconfigured,
                isNew
                    ? "the provider does not let this client be registered"
                    : "the provider no longer lets this registration be managed",
                hint: isNew ? "get an initial access token from the provider" : "manage it in the provider's console",
                answer: answer)
        case .notSent(let code): self.init(unsent: code)
        case .lost(_, let answer):
            self.init(
                .protocolViolation,
                isNew
                    ? "no usable reply came: the provider may have registered a client that this vault does not know"
                    : "no usable reply came: what the provider may have replaced is lost",
                hint: isNew
                    ? "look for it in the provider's console before you register again"
                    : "try again; if it is refused then, manage the registration in the provider's console",
                answer: answer)
        }
    }
}
