extension ProviderProfile {
    /// The sections `reply` and `errors`, with the fields of `refresh` and `dpop` that concern replies.
    static func reply(
        _ fields: inout ProfileFields, _ refresh: RefreshPolicy, _ dpop: DPoPRules
    ) throws(ProfileError) -> ReplyRules {
        var rules = ReplyRules.rfc
        rules.rotation = refresh.rotation
        rules.assumedLifetime = refresh.assumedLifetime
        rules.chainIsAccessToken = refresh.chain == .accessToken
        rules.assumedRefreshLifetime = [refresh.idleLifetime, refresh.absoluteLifetime].compactMap { $0 }.min()
        rules.acceptsDowngrade = dpop.acceptsDowngrade
        try read(&rules, try fields.section("reply"))
        try readErrors(&rules, try fields.section("errors"))
        return rules
    }

    private static func read(_ rules: inout ReplyRules, _ section: ProfileFields) throws(ProfileError) {
        var section = section
        if let format = try section.choice("format", ReplyRules.BodyFormat.self) { rules.format = format }
        rules.tokenPath = try section.texts("tokenPath")
        rules.successMember = try successMember(&section)
        if let separator = try section.text("scopeSeparator") {
            guard separator.utf8.count == 1 else {
                throw section.failure(.notAllowed, "scopeSeparator", "expected one character")
            }
            rules.scopeSeparator = separator
        }
        for (alias, type) in try section.table("tokenTypes") {
            let type = TokenType(type)
            guard type == .bearer || type == .dpop else {
                throw section.failure(.notAllowed, "tokenTypes.\(alias)", "expected bearer or dpop")
            }
            rules.tokenTypeAliases[alias.lowercased()] = type
        }
        if let members = try lifetimes("lifetimes", &section) { rules.lifetimes = members }
        if let members = try lifetimes("refreshLifetimes", &section) { rules.refreshLifetimes = members }
        rules.keptMembers = try section.texts("keep")
        guard rules.keptMembers.count <= 16 else { throw section.failure(.notAllowed, "keep", "expected at most 16") }
        for path in rules.keptMembers where path.split(separator: ".").contains(where: { Self.isSecret($0) }) {
            throw section.failure(.notAllowed, "keep", "\(path) is a member that must not be shown")
        }
        if let introspects = try section.flag("introspectsLifetime") { rules.introspectsLifetime = introspects }
        for var other in try section.sections("otherLogins") {
            let path = try other.texts("path")
            guard !path.isEmpty else { throw other.failure(.missing, "path") }
            rules.otherLogins.append(.init(label: try other.required("label"), path: path))
            try other.finish()
        }
        try section.finish()
    }

    /// Kept sealed with the login, or not at all; never where other users can read them.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        [
            "access_token", "refresh_token", "id_token", "client_secret", "code", "device_secret", "state",
            "code_verifier", "client_assertion",
        ].contains(String(name))
    }

    /// A name whose member must be true, or `{"name": "status", "is": 0}`.
    private static func successMember(
        _ section: inout ProfileFields
    ) throws(ProfileError) -> ReplyRules.SuccessMember? {
        guard section.isObject("successMember") else {
            return try section.text("successMember").map { ReplyRules.SuccessMember($0) }
        }
        var member = try section.section("successMember")
        let name = try member.required("name")
        guard let value = try member.scalar("is") else { throw member.failure(.missing, "is") }
        try member.finish()
        return ReplyRules.SuccessMember(name, is: value)
    }

    private static func lifetimes(
        _ name: String, _ section: inout ProfileFields
    ) throws(ProfileError) -> [LifetimeMember]? {
        var members: [LifetimeMember] = []
        for var member in try section.sections(name) {
            let unit = try member.choice("unit", LifetimeMember.Unit.self) ?? .seconds
            let clock = try member.choice("clock", LifetimeMember.Clock.self) ?? .idle
            guard clock == .idle || name == "refreshLifetimes" else {
                throw member.failure(.notAllowed, "clock", "an access token has one")
            }
            members.append(LifetimeMember(try member.required("name"), unit, clock))
            try member.finish()
        }
        return members.isEmpty ? nil : members
    }

    private static func readErrors(_ rules: inout ReplyRules, _ section: ProfileFields) throws(ProfileError) {
        var section = section
        let lists: [(String, ReplyRules.Meaning)] = [
            ("dead", .deadByProfile), ("clientRefused", .clientRefused), ("misconfigured", .misconfigured),
            ("needsUser", .needsUser), ("temporary", .temporary), ("scopeRefused", .scopeRefused),
        ]
        for (name, meaning) in lists {
            for code in try section.texts(name) {
                guard OAuthErrorCode(code) != nil else {
                    throw section.failure(.notAllowed, name, "expected error codes")
                }
                guard rules.meanings.updateValue(meaning, forKey: code) == nil else {
                    throw section.failure(.contradiction, name, "a code has one meaning")
                }
            }
        }
        let members = try section.texts("members")
        if !members.isEmpty { rules.errorMembers = members }
        let suberrors = try section.texts("needsUserSuberrors")
        if !suberrors.isEmpty { rules.needsUserSuberrors = Set(suberrors) }
        if let statuses = try section.numbers("bareDeadStatuses", in: 400...499) { rules.bareDeadStatuses = statuses }
        if let statuses = try section.numbers("temporaryStatuses", in: 400...499) { rules.temporaryStatuses = statuses }
        guard rules.temporaryStatuses.isDisjoint(with: rules.bareDeadStatuses.union([400, 401])) else {
            throw section.failure(.contradiction, "temporaryStatuses", "this status has other meanings")
        }
        var limit = try section.section("rejectionLimit")
        if let count = try limit.number("count", in: 1...1_000_000) { rules.rejectionLimit.count = count }
        if let span = try limit.seconds("seconds", in: 0...31_622_400) { rules.rejectionLimit.span = span }
        try limit.finish()
        try section.finish()
    }
}
