import ProviderProfiles

extension ProviderProfile {
    /// The profiles that ship with the library, by name.
    public static let shipped: [ProviderProfile] = ShippedProfiles.files.compactMap { file in
        try? ProviderProfile(parsing: file.text, file: "\(file.name).json")
    }

    private static let byName = Dictionary(shipped.map { ($0.name, $0) }) { first, _ in first }

    /// The file of a profile that ships with the library.
    package static func shippedFile(_ name: String) -> [UInt8]? {
        ShippedProfiles.files.first { $0.name == name }?.text
    }

    /// A server that follows the RFCs: the default where no profile was chosen.
    public static let generic = ProviderProfile(name: "generic", title: "A server that keeps to the RFCs")

    /// The shipped profile with this name or title, ignoring case.
    public static func named(_ name: String) throws(ProfileError) -> ProviderProfile {
        if let profile = byName[name] ?? byName[name.lowercased()] { return profile }
        let title = name.lowercased()
        guard let profile = shipped.first(where: { $0.title.lowercased() == title }) else {
            throw ProfileError(.unknownProfile, file: name)
        }
        return profile
    }

    private init(name: String, title: String) {
        self.name = name
        self.title = title
        sources = []
        notVerified = []
        variables = []
        endpoints = Endpoints(
            issuer: nil, authorization: nil, token: nil, refresh: nil, revocation: nil, pushedAuthorization: nil,
            introspection: nil)
        client = ClientRules()
        request = RequestRules()
        callback = CallbackRules()
        reply = .rfc
        refresh = RefreshPolicy()
        dpop = DPoPRules()
        revocation = RevocationRules()
        limits = Limits()
        exchange = nil
        idTokenIssuers = []
        resource = ResourceRules()
    }
}
