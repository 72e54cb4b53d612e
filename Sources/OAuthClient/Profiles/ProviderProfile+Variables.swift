extension ProviderProfile {
    /// More would be a form, not an address.
    private static let mostVariables = 8
    private static let mostKept = 16

    static func variables(_ section: ProfileFields) throws(ProfileError) -> [ProfileVariable] {
        var section = section
        var variables: [ProfileVariable] = []
        for name in section.names {
            guard ProfileVariable.isName(name), name != "client_id" else {
                throw section.failure(.notAllowed, name, "expected a name of letters, digits and underscores")
            }
            var fields = try section.section(name)
            let variable = ProfileVariable(
                name: name, says: try fields.required("says"), example: try fields.required("example"),
                pattern: try fields.text("pattern") ?? ProfileVariable.hostLabel,
                isAnyHost: try fields.flag("anyHost") ?? false)
            guard (try? Regex(variable.pattern)) != nil else {
                throw fields.failure(.notAllowed, "pattern", "this is not a regular expression")
            }
            guard variable.accepts(variable.example) else {
                throw fields.failure(.contradiction, "example", "it does not fit the pattern")
            }
            try fields.finish()
            variables.append(variable)
        }
        try section.finish()
        guard variables.count <= mostVariables else {
            throw section.failure(.notAllowed, section.names[mostVariables], "expected at most \(mostVariables)")
        }
        return variables
    }

    static func callback(_ section: ProfileFields) throws(ProfileError) -> CallbackRules {
        var section = section
        var rules = CallbackRules()
        if let code = try section.text("code") { rules.code = code }
        rules.keep = try section.texts("keep")
        guard rules.keep.count <= mostKept else { throw section.failure(.notAllowed, "keep", "expected at most 16") }
        for name in rules.keep where isSecret(name) || name == rules.code {
            throw section.failure(.notAllowed, "keep", "\(name) is a parameter that must not be shown")
        }
        try section.finish()
        return rules
    }

    /// Values that fit, to see whether endpoints can be used at all.
    package var exampleValues: [String: String] {
        Dictionary(variables.map { ($0.name, $0.example) }) { first, _ in first }
    }

    /// The parameters of a callback that are kept with the login. One that is not text of a sensible length is skipped.
    package func kept(of parameters: [String: String]) -> [String: String] {
        parameters.filter { name, value in
            self.callback.keep.contains(name) && (1...2_048).contains(value.utf8.count)
                && !value.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        }
    }
}
