import Platform
import SettingsText
import TokenVault

/// The file that replaces options and variables: the vault's location, and that of its key. It names secrets and holds
/// none.
struct ConfigurationFile: Sendable {
    let path: String
    /// The settings in the file, in the order of ``ConfigurationSetting/all``.
    let settings: [(setting: ConfigurationSetting, text: String, line: Int)]

    /// The file named by the command line or the environment, or else the first existing one: the user's own, then the
    /// machine's. Files are not combined.
    static func find(
        named path: String?, _ environment: [String: String], machine: String = "/etc"
    ) throws(Failure) -> ConfigurationFile? {
        let variable = environment["TOKENVAULT_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        if let named = path ?? variable {
            // This path means no file.
            guard named != "/dev/null" else { return nil }
            return try ConfigurationFile(reading: named, from: path == nil ? "TOKENVAULT_CONFIG" : "--config")
        }
        for path in places(environment, machine) where NamedFile(path).exists {
            return try ConfigurationFile(reading: path, from: "the configuration file")
        }
        return nil
    }

    private static func places(_ environment: [String: String], _ machine: String) -> [String] {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.config" : nil }
        // By the base directory specification, a relative path counts as unset.
        let own = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home
        return [own, machine].compactMap { $0.map { $0 + "/tokenvault/vaultctl.toml" } }
    }

    init(reading path: String, from origin: String) throws(Failure) {
        let text = try SettingsFile(noun: "configuration file", origin: origin).text(at: path)
        self.path = path
        settings = try Self.parse(text, of: path)
    }

    /// Adds settings that neither an option nor a variable gives. A variable that names a key or a witness overrides
    /// every setting that names one.
    func completing(_ environment: [String: String]) -> [String: String] {
        let isSet = { (variable: String) in environment[variable].map { !$0.isEmpty } ?? false }
        let named = Set(ConfigurationSetting.all.filter { isSet($0.variable) }.compactMap(\.names))
        var environment = environment
        for (setting, text, _) in settings where !isSet(setting.variable) {
            if let names = setting.names, named.contains(names) { continue }
            environment[setting.variable] = text
        }
        return environment
    }

    /// The origins of the variables that the file adds.
    func origins(of environment: [String: String]) -> [String: String] {
        let completed = completing(environment)
        var origins: [String: String] = [:]
        for (setting, text, line) in settings
        where (environment[setting.variable] ?? "").isEmpty && completed[setting.variable] == text {
            origins[setting.variable] = "\(setting.name) in \(Printable.path(path)), line \(line)"
        }
        return origins
    }
}

extension ConfigurationFile {
    /// - Throws: a failure with the line and the column.
    static func parse(
        _ text: String, of path: String
    ) throws(Failure) -> [(setting: ConfigurationSetting, text: String, line: Int)] {
        var found: [String: (text: String, line: Int)] = [:]
        var naming: [ConfigurationSetting.Named: String] = [:]
        // An editor's byte order mark is not part of the content.
        let text = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            do throws(SettingsProblem) {
                guard let entry = try ConfigurationLine(line) else { continue }
                let setting = entry.setting
                guard found[setting.name] == nil else {
                    throw SettingsProblem("\(setting.name) is set twice", column: entry.nameColumn)
                }
                if let names = setting.names {
                    if let other = naming[names] {
                        throw SettingsProblem(
                            "\(other) and \(setting.name) cannot be combined", hint: "name one \(names.rawValue)",
                            column: entry.nameColumn)
                    }
                    naming[names] = setting.name
                }
                do throws(SettingsProblem) {
                    found[setting.name] = (try setting.text(of: entry.value), index + 1)
                } catch {
                    throw SettingsProblem(error.message, hint: error.hint, column: entry.valueColumn)
                }
            } catch {
                throw failure(error, line: index + 1, of: path)
            }
        }
        return ConfigurationSetting.all.compactMap { setting in found[setting.name].map { (setting, $0.text, $0.line) }
        }
    }

    private static func failure(_ problem: SettingsProblem, line: Int, of path: String) -> Failure {
        let place = "\(Printable.path(path)), line \(line), column \(problem.column ?? 1)"
        return Failure(
            .usage, code: "configuration", "\(place): \(problem.message)", hints: problem.hint.map { [$0] } ?? [])
    }
}
