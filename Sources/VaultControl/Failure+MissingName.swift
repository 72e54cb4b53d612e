import TokenVault

extension Failure {
    /// Inserts the named provider into the hints' commands.
    mutating func nameProvider(_ arguments: [String]) {
        guard hints.contains(where: { $0.contains(" NAME") }), let given = GivenArguments(arguments),
            let name = given.value(of: "--provider") ?? given.value(of: "--client")
                ?? (given.words.first == "provider" ? given.value(of: "NAME") : nil)
                ?? (given.words == ["token", "client"] ? given.value(of: "PROVIDER") : nil)
        else { return }
        self = naming(given.value(of: "--tenant").flatMap { Tenant($0) }?.qualify(name) ?? name)
    }

    /// Repeats the missing user's or provider's name as typed, and names possible mistakes in it: the library's errors
    /// contain no user data.
    mutating func nameWhatIsMissing(_ arguments: [String]) {
        let noun: String
        switch (code, message) {
        case (VaultError.Code.unknownUser.name, "the vault has no such user"): noun = "user"
        case (VaultError.Code.unknownProvider.name, "the vault has no such provider"): noun = "provider"
        default: return
        }
        guard let given = GivenArguments(arguments) else { return }
        // `user show ID`, `provider show NAME`, `token client PROVIDER`, `request --client PROVIDER`.
        let options = noun == "user" ? ["--user"] : ["--provider", "--client"]
        let positional = noun == "user" ? ["user": "ID"] : ["provider": "NAME", "token": "PROVIDER"]
        let titles = options + [given.words.first.flatMap { positional[$0] }].compactMap(\.self)
        guard let typed = titles.lazy.compactMap({ given.value(of: $0) }).first else { return }
        let tenant = given.value(of: "--tenant")
        let owner = tenant.map { "the tenant \(Printable.shortened($0))" } ?? "the vault"
        message = "\(owner) has no \(noun) \(Printable.named(typed))"
        if let tenant {
            let of = noun == "user" ? "users" : "providers"
            hints = [
                "list its \(of): vaultctl \(noun) list --tenant \(Printable.argument(tenant))",
                "list all tenants: vaultctl tenant list; a \(noun) of none is named without --tenant",
            ]
        } else if let slash = typed.firstIndex(of: "/"), typed.last != "/", Tenant(String(typed[..<slash])) != nil {
            let name = Printable.shortened(String(typed[typed.index(after: slash)...]))
            let option = given.value(of: "--\(noun)") == nil ? "" : "--\(noun) "
            hints.insert("if this is a \(noun) of a tenant: \(option)\(name) --tenant \(typed[..<slash])", at: 0)
        }
        if let rest = PathProblem.unquoted(typed) {
            hints.insert("the quotation marks are part of the name: write \(Printable.shortened(rest))", at: 0)
        } else if let letter = Self.foreignLetter(in: typed) {
            let code = String(letter.value, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: max(0, 4 - code.count)) + code
            hints.insert("a letter of the name only looks like another: \(letter) is U+\(padded)", at: 0)
        }
        if typed.contains(where: \.isWhitespace) || typed.unicodeScalars.contains(where: Printable.isDeceptive) {
            hints.insert("check the name for blanks and invisible characters", at: 0)
        }
    }

    /// A letter that resembles a Latin one: Cyrillic, Greek or full-width.
    private static func foreignLetter(in name: String) -> Unicode.Scalar? {
        guard name.unicodeScalars.contains(where: { $0.isASCII && $0.properties.isAlphabetic }) else { return nil }
        return name.unicodeScalars.first { 0x370...0x52F ~= $0.value || 0xFF21...0xFF5A ~= $0.value }
    }
}
