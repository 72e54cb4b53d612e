public import FoundationEssentials

/// Which logins are wanted. All that is set must fit; an empty filter fits all.
///
/// ```swift
/// var gone = LoginFilter(provider: "google", standings: [.dead])
/// gone.diedBefore = Date(timeIntervalSinceNow: -30 * 86_400)
/// for try await entry in vault.logins(where: gone) { print(entry.id) }
/// ```
public struct LoginFilter: Sendable, Equatable {
    /// Of this user, as the app calls them.
    public var userId: String?
    /// Of users of this tenant; nil: of all. With it, ``userId`` and ``provider`` are names within the tenant.
    public var tenant: Tenant?
    /// At this provider, by its name in the vault.
    public var provider: String?
    /// In one of these; empty: in any.
    public var standings: Set<LoginStanding>
    /// With exactly this label.
    public var label: String?
    /// With a label that begins so.
    public var labelPrefix: String?
    /// With all of these values, see ``UserManager/setMetadata(_:of:)``.
    public var metadata: [String: String]
    /// Dead, and since before this time.
    public var diedBefore: Date?
    /// With an access token that expires before this time, or has.
    public var expiresBefore: Date?

    /// - Parameters:
    ///   - userId: Of this user.
    ///   - provider: At this provider.
    ///   - standings: In one of these; empty: in any.
    ///   - label: With exactly this label.
    ///   - metadata: With all of these values.
    public init(
        userId: String? = nil, provider: String? = nil, standings: Set<LoginStanding> = [], label: String? = nil,
        metadata: [String: String] = [:]
    ) {
        self.userId = userId
        self.provider = provider
        self.standings = standings
        self.label = label
        self.metadata = metadata
    }

    /// Whether it fits every login.
    package var isEmpty: Bool { self == LoginFilter() }

    /// Whether a login fits.
    package func fits(_ login: Login) -> Bool {
        Self.equal(qualified(userId), login.userId) && Self.equal(qualified(provider), login.provider)
            && Self.equal(label, login.label) && (tenant.map { $0.plain(login.userId) != nil } ?? true)
            && (standings.isEmpty || standings.contains(login.standing))
            && (labelPrefix.map { prefix in login.label?.utf8.starts(with: prefix.utf8) ?? false } ?? true)
            && metadata.allSatisfy { login.metadata[$0.key] == $0.value }
            && (diedBefore.map { end in login.failure.map { $0.date < end } ?? false } ?? true)
            && (expiresBefore.map { end in login.expiresAt.map { $0 < end } ?? false } ?? true)
    }

    /// As the vault calls it.
    func qualified(_ name: String?) -> String? { name.map { name in tenant?.qualify(name) ?? name } }

    private static func equal(_ wanted: String?, _ found: String?) -> Bool {
        wanted.map { wanted in found.map { wanted.utf8.elementsEqual($0.utf8) } ?? false } ?? true
    }
}

extension LoginFilter: PublicRendering {
    var shown: ShownFields {
        [
            "userId": ShownFields.name(userId), "tenant": tenant, "provider": ShownFields.name(provider),
            "standings": standings.isEmpty ? nil : standings.map(\.rawValue).sorted(), "label": label,
            "labelPrefix": labelPrefix, "metadata": metadata, "diedBefore": diedBefore, "expiresBefore": expiresBefore,
        ]
    }
}
