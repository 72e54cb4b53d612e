import VaultStorage

/// The login about which this task, or the one that made it, is asking the app.
struct AskedLogin: Sendable {
    let login: LoginHandle
    /// As long as the app is being waited for, to wait for the renewal from within would never end.
    let isOpen: @Sendable () -> Bool

    @TaskLocal static var current: AskedLogin?

    /// As far as its answer is still awaited.
    static var open: AskedLogin? { current.flatMap { $0.isOpen() ? $0 : nil } }
}
