import CProcess
import Glibc

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
            return Self.start(arguments)
        }
    }

    /// `$BROWSER` is a list of commands separated by colons, where `%s` stands for the URL; after them, the desktops'
    /// own commands.
    private var commands: [String] {
        (environment["BROWSER"] ?? "").split(separator: ":").map(String.init) + ["xdg-open"]
    }

    /// Starts a program that outlives this one: in its own session, so that Ctrl-C here does not end it; without our
    /// streams and files; and with the signals that a new program expects.
    private static func start(_ arguments: [String]) -> Bool {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in STDIN_FILENO...STDERR_FILENO {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { unsafe sigaddset(&defaults, number) }
        var nothingBlocked = sigset_t()
        unsafe sigemptyset(&nothingBlocked)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setsigmask(&attributes, &nothingBlocked)
        unsafe posix_spawnattr_setflags(
            &attributes, process_spawn_setsid() | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var process: pid_t = 0
        return unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, &words, environ) == 0
    }
}
