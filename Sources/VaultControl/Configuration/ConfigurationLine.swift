import SettingsText

/// One line of a configuration file: `name = value`, in a subset of TOML.
struct ConfigurationLine {
    let setting: ConfigurationSetting
    /// The columns of the name and the value, from 1.
    let nameColumn: Int
    let valueColumn: Int
    let value: SettingsValue

    /// Nil for an empty line and a comment.
    init?(_ text: Substring) throws(SettingsProblem) {
        var scanner = SettingsScanner(text)
        scanner.skipSpaces()
        guard !scanner.isAtRemark else { return nil }
        guard scanner.peek != "[" else {
            throw scanner.problem(
                "sections are not used here",
                hint: "leave it out; if this file is the policy of a service: vaultctl serve --policy FILE")
        }
        nameColumn = scanner.column
        let name = scanner.take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard !name.isEmpty else { throw scanner.problem("expected the name of a setting", hint: Self.form) }
        scanner.skipSpaces()
        guard scanner.skip("=") else {
            throw scanner.problem(
                ConfigurationSetting.isLikeAName(name)
                    ? "expected = after \(name)" : "this is no line of a configuration file", hint: Self.form)
        }
        setting = try ConfigurationSetting.find(name, column: nameColumn)
        scanner.skipSpaces()
        valueColumn = scanner.column
        let isFlag = if case .flag = setting.kind { true } else { false }
        value = try scanner.value(example: setting.example, isFlag: isFlag)
        scanner.skipSpaces()
        guard scanner.isAtRemark else { throw scanner.problem("expected the end of the line", hint: Self.form) }
    }

    private static let form = "a line is NAME = VALUE, for example: vault = \"/var/lib/app/app.vault\""
}
