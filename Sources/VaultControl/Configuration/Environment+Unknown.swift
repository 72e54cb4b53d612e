/// Variables that are not settings.
extension Environment {
    private static let known = others.union(ConfigurationSetting.all.map(\.variable))

    static func unknown(_ environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix("TOKENVAULT_") && !known.contains($0) }.sorted()
    }

    /// The warnings of variables that are probably misspelt: without them a command runs as if they were not set, and
    /// perhaps without the protection that they name.
    static func misspelt(_ environment: [String: String]) -> [String] {
        unknown(environment).compactMap { name in
            meant(by: name).map { "there is no variable \(Printable.shortened(name)): did you mean \($0)" }
        }
    }

    /// The other variables that may explain an error.
    ///
    /// - Parameter names: the variables of what is missing. An empty one counts as not set.
    static func slips(_ environment: [String: String], _ names: [String]) -> [String] {
        let empty = names.filter { environment[$0]?.isEmpty == true }
            .map { "\($0) is set, but empty: check the script or unit that sets it" }
        let strange = unknown(environment).filter { meant(by: $0) == nil }.prefix(4)
            .map { "there is no variable \(Printable.shortened($0))" }
        return empty + strange
    }

    private static func meant(by name: String) -> String? { EditDistance.near(name, among: known.sorted()).first }
}
