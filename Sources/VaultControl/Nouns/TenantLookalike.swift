import TokenVault

/// A name such as `contoso/alice`, which lists would show like the name of a tenant.
struct TenantLookalike {
    let tenant: Tenant
    /// The name within the tenant.
    let name: String

    /// Nil if the text has another form, or the vault no such tenant: a service's own ids may have a slash.
    init?(_ text: String, in vault: Vault) async throws {
        guard let slash = text.firstIndex(of: "/"), let tenant = Tenant(String(text[..<slash])),
            case let name = String(text[text.index(after: slash)...]), !name.isEmpty,
            try await vault.has(tenant)
        else { return nil }
        (self.tenant, self.name) = (tenant, name)
    }

    /// The same name with its option.
    var typed: String { "\(Printable.shortened(name)) --tenant \(tenant.name)" }

    /// Refuses to act on a user of no tenant if the same words name a tenant's user, too: lists show both alike.
    ///
    /// - Parameters:
    ///   - command: with which the tenant's user is named.
    ///   - hint: how the one of no tenant is named.
    /// - Returns: whether the user is one of no tenant whose id looks like that of a tenant's.
    @discardableResult
    static func refuseTwin(
        of user: String?, _ option: TenantName?, in vault: Vault, command: String, hint: String
    ) async throws -> Bool {
        guard let user, option == nil, let other = try await TenantLookalike(user, in: vault),
            try await isKnown(user, in: vault)
        else { return false }
        guard try await isKnown(other.tenant.qualify(other.name), in: vault) else { return true }
        let shown = Printable.shortened(user)
        throw Failure(
            .usage, code: "ambiguousUser",
            "\(shown) is a user of no tenant, and the tenant \(other.tenant.name) has a user "
                + "\(Printable.shortened(other.name)), who is shown in the same way",
            hints: ["for the user of the tenant: \(command) \(other.typed)", "for the user of no tenant: \(hint)"])
    }

    /// The same before logins end that are chosen by their user.
    static func refuseTwin(endingLoginsOf user: String?, _ option: TenantName?, in vault: Vault) async throws {
        try await refuseTwin(
            of: user, option, in: vault, command: "--user",
            hint: "end each login by its id: vaultctl login list --user \(Printable.shortened(user ?? ""))")
    }

    /// Whether the vault has the user, or a log-in that they have begun.
    private static func isKnown(_ user: String, in vault: Vault) async throws -> Bool {
        do {
            _ = try await vault.user(user)
            return true
        } catch let error as VaultError where error.code == .unknownUser {
            return try await vault.pendingLogIns(of: user) > 0
        } catch let error as VaultError where error.code == .quarantined {
            return true
        }
    }

    /// What is wrong with an id that was copied along with something that is not part of it.
    private static func oddity(of user: String) -> String? {
        if PathProblem.trimmed(user) != user { return "begins or ends with a blank" }
        if PathProblem.unquoted(user) != nil { return "has quotation marks around it" }
        return user.unicodeScalars.contains(where: Printable.isDeceptive) ? "has an invisible character" : nil
    }

    /// Warns before a new user gets an id that is probably meant as another one. Ids are a service's own, so they are not
    /// refused.
    ///
    /// - Parameter mayBeNew: false if the command names a provider, which a new tenant does not have.
    static func warn(
        of user: String?, _ option: TenantName?, mayBeNew: Bool = true, in vault: Vault, _ invocation: Invocation
    ) async throws {
        if let user, let oddity = oddity(of: user), (try? await vault.user(user, of: option?.tenant)) == nil {
            invocation.warn("the id of the new user \(oddity): \(Printable.named(user))")
        }
        if let user, let tenant = option?.tenant, user.hasPrefix("\(tenant.name)/"),
            (try? await vault.user(user, of: tenant)) == nil
        {
            invocation.warn(
                "the new user is called \(Printable.shortened(user)) within the tenant \(tenant.name); without the "
                    + "tenant's name: --user \(Printable.shortened(String(user.dropFirst(tenant.name.count + 1))))")
        }
        if mayBeNew, let tenant = option?.tenant, try await !vault.has(tenant) {
            invocation.note("the tenant \(tenant.name) is new")
            let near = EditDistance.near(tenant.name, among: try await vault.tenants().map(\.tenant.name))
            if let near = near.first { invocation.advise("if it is a misspelling: --tenant \(near)") }
        }
        guard let user, option == nil, let other = try await TenantLookalike(user, in: vault),
            (try? await vault.user(user)) == nil
        else { return }
        invocation.warn(
            "the user \(Printable.shortened(user)) belongs to no tenant; a user of the tenant "
                + "\(other.tenant.name) is named by: --user \(other.typed)")
    }
}
