import VaultStorage

/// The login about which this task, or the one that made it, is asking the app.
struct AskedLogin: Sendable {
    let login: LoginHandle
    /// As long as the app is being waited for, to wait for the renewal from within would never end.
    let isOpen: @Sendable () -> Bool

    @TaskLocal static var current: AskedLogin?

    static func isOpen(_ login: LoginHandle) -> Bool {
        current.map { $0.login == login && $0.isOpen() } ?? false
    }
}
