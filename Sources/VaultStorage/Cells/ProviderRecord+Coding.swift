import VaultCrypto

extension ProviderRecord {
    private enum Tag {
        static let name: UInt8 = 1
        static let issuer: UInt8 = 2
        static let authorizationEndpoint: UInt8 = 3
        static let tokenEndpoint: UInt8 = 4
        static let revocationEndpoint: UInt8 = 5
        static let introspectionEndpoint: UInt8 = 6
        static let pushedAuthorizationEndpoint: UInt8 = 7
        static let jwksURI: UInt8 = 8
        static let clientID: UInt8 = 9
        static let clientAuthentication: UInt8 = 10
        static let clientSecrets: UInt8 = 11
        static let defaultScope: UInt8 = 12
        static let scopesSupported: UInt8 = 13
        static let redirectURI: UInt8 = 14
        static let dpop: UInt8 = 15
        static let profileName: UInt8 = 16
        static let parameters: UInt8 = 17
        static let createdAt: UInt8 = 18
        static let requiresIssuerInCallback: UInt8 = 19
        static let profileDocument: UInt8 = 20
        static let clientKeyID: UInt8 = 21
        static let clientKeyAlgorithm: UInt8 = 22
        static let requiresPushedRequests: UInt8 = 23
        static let deviceAuthorizationEndpoint: UInt8 = 24
        static let clientCertificate: UInt8 = 25
        static let clientCertificateKey: UInt8 = 26
        static let bindsTokensToCertificate: UInt8 = 27
        static let registrationURI: UInt8 = 29
        static let registrationToken: UInt8 = 30
        static let clientSecretExpiresAt: UInt8 = 31
        static let apiOrigins: UInt8 = 32
        static let mostDeaths: UInt8 = 33
        static let daysEndedIsKept: UInt8 = 34
        static let assertionAudience: UInt8 = 35
        static let isOfResources: UInt8 = 36
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 1024)
        record.append(Tag.name, name)
        record.append(Tag.issuer, issuer)
        record.append(Tag.authorizationEndpoint, authorizationEndpoint)
        record.append(Tag.tokenEndpoint, tokenEndpoint)
        record.append(Tag.revocationEndpoint, revocationEndpoint)
        record.append(Tag.introspectionEndpoint, introspectionEndpoint)
        record.append(Tag.pushedAuthorizationEndpoint, pushedAuthorizationEndpoint)
        record.append(Tag.jwksURI, jwksURI)
        record.append(Tag.clientID, clientID)
        record.append(Tag.clientAuthentication, clientAuthentication)
        var secrets = RecordList()
        for secret in clientSecrets { secrets.append(secret) }
        record.append(Tag.clientSecrets, list: secrets)
        record.append(Tag.defaultScope, defaultScope)
        record.append(Tag.scopesSupported, scopesSupported)
        record.append(Tag.redirectURI, redirectURI)
        record.append(Tag.dpop, dpop.rawValue)
        record.append(Tag.profileName, profileName)
        record.append(Tag.parameters, parameters)
        record.append(Tag.createdAt, createdAt.milliseconds)
        if requiresIssuerInCallback { record.append(Tag.requiresIssuerInCallback, true) }
        record.append(Tag.profileDocument, profileDocument)
        record.append(Tag.clientKeyID, clientKeyID)
        record.append(Tag.clientKeyAlgorithm, clientKeyAlgorithm)
        if requiresPushedRequests { record.append(Tag.requiresPushedRequests, true) }
        record.append(Tag.deviceAuthorizationEndpoint, deviceAuthorizationEndpoint)
        record.append(Tag.clientCertificate, clientCertificate)
        record.append(Tag.clientCertificateKey, clientCertificateKey)
        if bindsTokensToCertificate { record.append(Tag.bindsTokensToCertificate, true) }
        record.append(Tag.registrationURI, registrationURI)
        record.append(Tag.registrationToken, registrationToken)
        record.append(Tag.clientSecretExpiresAt, clientSecretExpiresAt?.milliseconds)
        record.append(Tag.apiOrigins, apiOrigins)
        record.append(Tag.mostDeaths, mostDeaths.map { Int64($0) })
        record.append(Tag.daysEndedIsKept, daysEndedIsKept.map { Int64($0) })
        record.append(Tag.assertionAudience, assertionAudience)
        if isOfResources { record.append(Tag.isOfResources, true) }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        self.init(
            name: "", issuer: nil, tokenEndpoint: "", clientID: "", clientAuthentication: "", profileName: "",
            createdAt: Timestamp(milliseconds: 0))
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() { try read(field) }
        guard !name.isEmpty, !tokenEndpoint.isEmpty else {
            throw VaultCryptoError(.malformedRecord, "the provider cell lacks a field")
        }
    }

    private mutating func read(_ field: RecordField) throws(VaultCryptoError) {
        switch field.tag {
        case Tag.name: name = try field.text()
        case Tag.issuer: issuer = try field.text()
        case Tag.authorizationEndpoint: authorizationEndpoint = try field.text()
        case Tag.tokenEndpoint: tokenEndpoint = try field.text()
        case Tag.revocationEndpoint: revocationEndpoint = try field.text()
        case Tag.introspectionEndpoint: introspectionEndpoint = try field.text()
        case Tag.pushedAuthorizationEndpoint: pushedAuthorizationEndpoint = try field.text()
        case Tag.jwksURI: jwksURI = try field.text()
        case Tag.clientID: clientID = try field.text()
        case Tag.clientAuthentication: clientAuthentication = try field.text()
        case Tag.clientSecrets: clientSecrets = try field.secrets()
        case Tag.defaultScope: defaultScope = try field.text()
        case Tag.scopesSupported: scopesSupported = try field.texts()
        case Tag.redirectURI: redirectURI = try field.text()
        case Tag.dpop:
            guard let policy = DPoPPolicy(rawValue: try field.uint8()) else {
                throw VaultCryptoError(.malformedRecord, "the provider has a DPoP policy that is not known")
            }
            dpop = policy
        case Tag.profileName: profileName = try field.text()
        case Tag.parameters: parameters = try field.textTable()
        case Tag.createdAt: createdAt = try field.timestamp()
        case Tag.requiresIssuerInCallback: requiresIssuerInCallback = try field.bool()
        case Tag.profileDocument: profileDocument = try field.text()
        case Tag.clientKeyID: clientKeyID = try field.text()
        case Tag.clientKeyAlgorithm: clientKeyAlgorithm = try field.text()
        case Tag.requiresPushedRequests: requiresPushedRequests = try field.bool()
        case Tag.deviceAuthorizationEndpoint: deviceAuthorizationEndpoint = try field.text()
        case Tag.clientCertificate: clientCertificate = try field.text()
        case Tag.clientCertificateKey: clientCertificateKey = field.secret()
        case Tag.bindsTokensToCertificate: bindsTokensToCertificate = try field.bool()
        case Tag.registrationURI: registrationURI = try field.text()
        case Tag.registrationToken: registrationToken = field.secret()
        case Tag.clientSecretExpiresAt: clientSecretExpiresAt = try field.timestamp()
        case Tag.apiOrigins: apiOrigins = try field.texts()
        case Tag.mostDeaths: mostDeaths = Int(clamping: try field.int64())
        case Tag.daysEndedIsKept: daysEndedIsKept = Int(clamping: try field.int64())
        case Tag.assertionAudience: assertionAudience = try field.text()
        case Tag.isOfResources: isOfResources = try field.bool()
        default: try field.ignoreIfOptional()
        }
    }

    static func associatedData(_ vault: Bytes16, _ handle: ProviderHandle, revision: Int64) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "provider")
        data.append(handle.bytes)
        data.append(revision)
        return data
    }
}
