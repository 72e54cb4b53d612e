import Platform

/// The variables that replace options.
enum Environment {
    static var variables: [String: String] {
        var result: [String: String] = [:]
        for text in ProcessEnvironment.variables {
            if let equals = text.firstIndex(of: "="), text.hasPrefix("TOKENVAULT_") || names.contains(text[..<equals]) {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
        }
        return result
    }

    /// Other variables that the program reads.
    private static let names: Set<Substring> = [
        "BROWSER", "COLUMNS", "DISPLAY", "HOME", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "NO_COLOR",
        "NOTIFY_SOCKET", "SUDO_USER", "TERM", "WATCHDOG_PID", "WATCHDOG_USEC", "WAYLAND_DISPLAY", "XDG_CONFIG_HOME",
    ]

    static let key = "TOKENVAULT_KEY"

    /// Variables that correspond to no setting of a configuration file.
    static let others: Set<String> = ["TOKENVAULT_CONFIG", "TOKENVAULT_STATE_DIRECTORY", "TOKENVAULT_PASSPHRASE", key]

    /// Child processes inherit the environment, and crash reports contain it: no secret belongs there.
    ///
    /// - Parameter arguments: may allow the key there.
    static func refuseSecrets(_ environment: [String: String], _ arguments: [String]) throws(Failure) {
        let holder = environment.keys.sorted().first { name in
            name.hasPrefix("TOKENVAULT_") && name != key && SecretArguments.isKey(environment[name] ?? "")
        }
        if let holder {
            throw .usage(
                "\(holder) has a key itself, and not a file's path",
                hint: "write the key into a private file, and name that; a variable is no safe place for it")
        }
        let allowed = arguments.prefix { $0 != "--" }.contains("--allow-environment-key") ? [key] : []
        for name in ["TOKENVAULT_PASSPHRASE", key] where environment[name] != nil && !allowed.contains(name) {
            throw .usage(
                "\(name) is set, but an environment variable is not a safe place for a secret",
                hint: name == key
                    ? "unset it, and use TOKENVAULT_KEY_FILE; where there is no other way: --allow-environment-key"
                    : "unset it, and use TOKENVAULT_KEY_FILE or TOKENVAULT_PASSPHRASE_FILE")
        }
    }
}
