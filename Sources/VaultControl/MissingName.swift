import TokenVault

/// The user or the provider that an error says is missing, as typed: the library's errors contain no user data.
struct MissingName {
    private let noun: String
    private let typed: String
    private let given: GivenArguments
    private let tenant: String?

    init?(_ failure: Failure, _ arguments: [String]) {
        switch (failure.code, failure.message) {
        case (VaultError.Code.unknownUser.name, "the vault has no such user"): noun = "user"
        case (VaultError.Code.unknownProvider.name, "the vault has no such provider"): noun = "provider"
        default: return nil
        }
        guard let given = GivenArguments(arguments) else { return nil }
        // `user show ID`, `provider show NAME`, `token client PROVIDER`, `request --client PROVIDER`.
        let options = noun == "user" ? ["--user"] : ["--provider", "--client"]
        let positional = noun == "user" ? ["user": "ID"] : ["provider": "NAME", "token": "PROVIDER"]
        let titles = options + [given.words.first.flatMap { positional[$0] }].compactMap(\.self)
        guard let typed = titles.lazy.compactMap({ given.value(of: $0) }).first else { return nil }
        (self.typed, self.given, tenant) = (typed, given, given.value(of: "--tenant"))
    }

    /// The same error, if it reports no missing name.
    static func explained(_ error: any Error, _ arguments: [String], in vault: Vault) async -> any Error {
        var failure = Failure(error)
        guard let missing = MissingName(failure, arguments) else {
            guard failure.code == VaultError.Code.providerMisconfigured.name else {
                if let named = await failure.namingID(arguments, in: vault) { return named }
                return await failure.namingLogin(arguments, in: vault) ?? error
            }
            return await failure.naming(Failure.provider(arguments), in: vault)
        }
        do {
            try await missing.explain(&failure, in: vault)
            return failure
        } catch let other { return other }
    }

    /// Repeats the name, and points out possible mistakes in it.
    ///
    /// - Throws: the error that explains more: the tenant is missing, and not only its user or provider.
    private func explain(_ failure: inout Failure, in vault: Vault) async throws {
        do {
            try await vault.require(tenant.flatMap { Tenant($0) })
        } catch let failure as Failure {
            var missing = failure
            if noun == "provider", (try? await vault.provider(named: typed)) != nil {
                let name = Printable.shortened(typed)
                missing.hints.insert("\(name) is a provider of no tenant: it is named without --tenant", at: 0)
            }
            throw missing
        }
        // `-u alice:password`, as curl has it.
        if noun == "user", given.words == ["request"], let colon = typed.firstIndex(of: ":") {
            failure.message = "the vault has no user \(Printable.named(String(typed[..<colon]) + ":…"))"
            failure.hints = [
                "-u names a user of the vault; a user and a password for the API go into a header field: -H 'Authorization: …'",
                "if that was a password, assume that others have seen it",
            ]
            return
        }
        let owner = tenant.map { "the tenant \(Printable.shortened($0))" } ?? "the vault"
        failure.message = "\(owner) has no \(noun) \(Printable.named(typed))"
        if let tenant {
            failure.hints = hints(of: tenant)
        } else {
            failure.hints = try await qualified(in: vault) + similar(in: vault) + failure.hints
        }
        failure.hints = slips + failure.hints
        failure.hints = try await others(in: vault) + failure.hints
    }

    /// A name or an id of another kind, and a user whose rows alone are left.
    private func others(in vault: Vault) async throws -> [String] {
        let name = Printable.argument(typed)
        guard noun == "user" else {
            if (try? await vault.user(given.qualified(typed))) != nil {
                return ["this is a user: vaultctl user show \(name)"]
            }
            guard PathProblem.scheme(of: typed) != nil else { return [] }
            let issuer = typed.hasSuffix("/") ? String(typed.dropLast()) : typed
            let its = try await vault.providers().filter { [issuer, issuer + "/"].contains($0.issuer?.rawValue) }
            let names = its.prefix(4).map { Printable.argument($0.name) }
            return names.isEmpty ? [] : ["this is the issuer of: \(names.joined(separator: ", "))"]
        }
        if (try? await vault.provider(named: given.qualified(typed))) != nil {
            return ["this is a provider: vaultctl provider show \(name)"]
        }
        if let id = LoginID(typed), (try? await vault.login(id)) != nil {
            return ["this is the id of a login: vaultctl login show \(id)"]
        }
        guard given.words.first == "audit" else { return [] }
        return ["rows of an erased user are found by the handle in the certificate: --user-handle HANDLE"]
    }

    private func hints(of tenant: String) -> [String] {
        let of = noun == "user" ? "users" : "providers"
        let hints = [
            "list its \(of): vaultctl \(noun) list --tenant \(Printable.argument(tenant))",
            "list all tenants: vaultctl tenant list; a \(noun) of none is named without --tenant",
        ]
        guard typed.hasPrefix("\(tenant)/") else { return hints }
        let name = Printable.shortened(String(typed.dropFirst(tenant.count + 1)))
        return ["--tenant names the tenant already: write \(name)"] + hints
    }

    /// `contoso/alice`, with a tenant that is there: a service's own ids may have a slash.
    private func qualified(in vault: Vault) async throws -> [String] {
        guard let slash = typed.firstIndex(of: "/"), typed.last != "/", let tenant = Tenant(String(typed[..<slash]))
        else { return [] }
        let name = Printable.shortened(String(typed[typed.index(after: slash)...]))
        let option = given.value(of: "--\(noun)") == nil ? "" : "--\(noun) "
        guard try await !vault.has(tenant) else {
            return ["if this is a \(noun) of a tenant: \(option)\(name) --tenant \(tenant.name)"]
        }
        let near = EditDistance.near(tenant.name, among: try await vault.tenants().map(\.tenant.name))
        return near.map { "the vault has no tenant \(tenant.name); did you mean: \(option)\(name) --tenant \($0)" }
    }

    /// Providers are few; users are many, so only the first ones are compared, and the same name in other letters.
    private func similar(in vault: Vault) async throws -> [String] {
        guard noun == "provider" else {
            let lower = typed.lowercased()
            let known = try await vault.userPage(limit: 200).entries.compactMap { entry in
                if case .user(let user) = entry { user.id } else { nil }
            }
            if lower != typed, (try? await vault.user(lower)) != nil { return Self.didYouMean([lower]) }
            return Self.didYouMean(EditDistance.near(typed, among: known))
        }
        for tenant in try await vault.tenants().prefix(100)
        where (try? await vault.provider(named: tenant.tenant.qualify(typed))) != nil {
            return ["a tenant has a provider of this name: --tenant \(tenant.tenant.name)"]
        }
        return Self.didYouMean(EditDistance.near(typed, among: try await vault.providers().map(\.name)))
    }

    private static func didYouMean(_ near: [String]) -> [String] {
        near.isEmpty ? [] : ["did you mean: \(near.map(Printable.argument).joined(separator: ", or "))"]
    }

    private var slips: [String] {
        var hints: [String] = []
        if typed.contains(where: \.isWhitespace) || typed.unicodeScalars.contains(where: Printable.isDeceptive) {
            hints.append("check the name for blanks and invisible characters")
        }
        if let rest = PathProblem.unquoted(typed) {
            hints.append("the quotation marks are part of the name: write \(Printable.shortened(rest))")
        } else if let letter = Self.foreignLetter(in: typed) {
            let code = String(letter.value, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: max(0, 4 - code.count)) + code
            hints.append("a letter of the name only looks like another: \(letter) is U+\(padded)")
        }
        return hints
    }

    /// A letter that resembles a Latin one: Cyrillic, Greek or full-width.
    private static func foreignLetter(in name: String) -> Unicode.Scalar? {
        guard name.unicodeScalars.contains(where: { $0.isASCII && $0.properties.isAlphabetic }) else { return nil }
        return name.unicodeScalars.first { 0x370...0x52F ~= $0.value || 0xFF21...0xFF5A ~= $0.value }
    }
}
