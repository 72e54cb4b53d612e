import Platform

/// The browser of the desktop that the program runs on, if there is one.
struct DesktopBrowser {
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Whether anything can open a page: `$BROWSER` or a desktop.
    var isLikely: Bool {
        ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    }

    /// Opens `url` with the first program that starts. No shell reads it.
    ///
    /// - Returns: false if none starts. Whether a page appears is unknown.
    func open(_ url: String) -> Bool {
        commands.contains { command in
            let words = command.split(separator: " ").map(String.init)
            guard !words.isEmpty else { return false }
            let arguments =
                words.contains { $0.contains("%s") }
                ? words.map { $0.replacing("%s", with: url) } : words + [url]
            return ChildProcess.startDetached(arguments)
        }
    }

    /// `$BROWSER` is a list of commands separated by colons, where `%s` stands for the URL; after them, the desktops'
    /// own commands.
    private var commands: [String] {
        (environment["BROWSER"] ?? "").split(separator: ":").map(String.init) + ["xdg-open"]
    }
}
