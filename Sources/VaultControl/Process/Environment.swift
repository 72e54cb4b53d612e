import Glibc

/// The variables that stand in for options.
enum Environment {
    static var variables: [String: String] {
        var result: [String: String] = [:]
        var entry = unsafe environ
        while let pointer = unsafe entry.pointee {
            let text = unsafe String(cString: pointer)
            if let equals = text.firstIndex(of: "="), text.hasPrefix("TOKENVAULT_") || names.contains(text[..<equals]) {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return result
    }

    /// What else the program looks at.
    private static let names: Set<Substring> = [
        "BROWSER", "COLUMNS", "DISPLAY", "NO_COLOR", "TERM", "WAYLAND_DISPLAY",
    ]

    /// Children inherit the environment, and crash reports hold it: no place for a secret.
    static func refuseSecrets(_ environment: [String: String]) throws(Failure) {
        for name in ["TOKENVAULT_PASSPHRASE", "TOKENVAULT_KEY"] where environment[name] != nil {
            throw .usage(
                "\(name) is set, but an environment variable is not a safe place for a secret",
                hint: "unset it, and use TOKENVAULT_KEY_FILE or TOKENVAULT_PASSPHRASE_FILE")
        }
    }
}
