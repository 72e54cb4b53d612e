import VaultStorage

/// The login about which this task, or its parent, is asking the app.
struct AskedLogin: Sendable {
    let login: LoginHandle
    /// While the app's answer is awaited, waiting for the renewal from within would never end.
    let isOpen: @Sendable () -> Bool

    @TaskLocal static var current: AskedLogin?

    /// The current one, if its answer is still awaited.
    static var open: AskedLogin? { current.flatMap { $0.isOpen() ? $0 : nil } }
}
