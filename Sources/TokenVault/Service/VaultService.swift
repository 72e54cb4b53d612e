public import OAuthClient
public import ServiceLifecycle
import Synchronization

/// A vault with everything that a service needs, from opening to closing.
///
/// ```swift
/// let vault = try await VaultService(
///     at: "/var/lib/app/tokens.vault", unlockedBy: .keyFile("/etc/app/vault.key"), transport: AsyncHTTPTransport())
/// let users = vault.users  // for the routes of your server
/// let group = ServiceGroup(services: [vault, server], logger: logger)
/// try await group.run()
/// ```
///
/// The vault is open from the beginning, so routes can be made of ``users`` before the group runs. While it runs, it
/// renews tokens ahead of time, makes backups, rotates keys and notifies observers as ``VaultServiceOptions`` say.
///
/// A service group shuts down its last service first, so put the vault first. Then the server stops taking requests,
/// the renewals under way finish, the vault is closed, and the transport last, because replies may hold the only next
/// refresh tokens. The same happens if the task is cancelled, or if ``close()`` is called.
public final class VaultService: Service {
    public let vault: Vault
    public let users: UserManager
    private let transport: any HTTPTransport
    private let jobs: [any Service]
    private let closing = Mutex<Task<Void, Never>?>(nil)

    /// Opens the vault.
    ///
    /// - Parameters:
    ///   - path: The vault's file.
    ///   - key: The key that opens it.
    ///   - transport: Carries requests to providers. It is shut down with the service, and also if this throws.
    ///   - refreshHandler: As in ``UserManager/init(vault:transport:refreshHandler:options:sessionHandler:)``.
    ///   - sessionHandler: As there.
    ///   - options: The work in the background, and its settings.
    /// - Throws: The errors of ``Vault/open(at:unlockedBy:options:)``, and ``VaultError/Code/invalidArgument`` if two observers
    ///   have one name, or one has none.
    public convenience init(
        at path: String, unlockedBy key: KeySource, transport: any HTTPTransport,
        refreshHandler: (any TokenRefreshHandler)? = nil, sessionHandler: (any SessionHandler)? = nil,
        options: VaultServiceOptions = .init()
    ) async throws {
        try await self.init(
            in: .sqlite(path), unlockedBy: key, transport: transport, refreshHandler: refreshHandler,
            sessionHandler: sessionHandler, options: options)
    }

    /// Opens the vault in any location.
    ///
    /// - Parameters:
    ///   - location: The vault's location.
    ///   - key: The key that opens it.
    ///   - transport: Carries requests to providers. It is shut down with the service, and also if this throws.
    ///   - refreshHandler: As in ``UserManager/init(vault:transport:refreshHandler:options:sessionHandler:)``.
    ///   - sessionHandler: As there.
    ///   - options: The work in the background, and its settings.
    /// - Throws: The errors of ``Vault/open(in:unlockedBy:options:)``, and ``VaultError/Code/invalidArgument`` if two observers
    ///   have one name, or one has none.
    public init(
        in location: VaultLocation, unlockedBy key: KeySource, transport: any HTTPTransport,
        refreshHandler: (any TokenRefreshHandler)? = nil, sessionHandler: (any SessionHandler)? = nil,
        options: VaultServiceOptions = .init()
    ) async throws {
        var opened: Vault?
        do {
            try ArgumentCheck.observerNames(options.observers.map(\.name))
            let vault = try await Vault.open(in: location, unlockedBy: key, options: options.vault)
            opened = vault
            users = try await UserManager(
                vault: vault, transport: transport, refreshHandler: refreshHandler, options: options.users,
                sessionHandler: sessionHandler)
            self.vault = vault
        } catch {
            await opened?.close()
            await transport.shutdown()
            throw error
        }
        self.transport = transport
        var jobs: [any Service] = []
        if let scheduler = options.scheduler { jobs.append(RenewalScheduler(users, options: scheduler)) }
        if let backups = options.backups { jobs.append(BackupScheduler(vault, options: backups)) }
        if let interval = options.rootKeyInterval {
            jobs.append(RootKeyScheduler(vault, options: RootKeySchedule(every: interval)))
        }
        for observer in options.observers {
            jobs.append(LoginObservation(vault, observer, after: options.newObserversBeginAfter))
        }
        self.jobs = jobs
    }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed; then closes everything.
    public func run() async throws {
        let end = OneAnswer<Void>()
        let action = vault.whenClosing { end.give(()) }
        let result = await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup { group in
                for job in jobs { group.addTask { await Self.result(of: job) } }
                group.addTask {
                    await end.value()
                    return .success(())
                }
                // A job that fails ends the others, and the service.
                var result: Result<Void, any Error> = .success(())
                for await ended in group {
                    guard case .failure = ended, case .success = result else { continue }
                    result = ended
                    end.give(())
                    group.cancelAll()
                }
                return result
            }
        } onCancelOrGracefulShutdown: {
            end.give(())
        }
        vault.forgetClosingAction(action)
        await close()
        try result.get()
    }

    private static func result(of job: any Service) async -> Result<Void, any Error> {
        do { return .success(try await job.run()) } catch { return .failure(error) }
    }

    /// Finishes the renewals under way, closes the vault, and shuts the transport down, in this order. For programs without
    /// a service group. The second call waits for the first.
    public func close() async {
        let task = closing.withLock { closing in
            if let closing { return closing }
            // A task of its own: it is not cancelled with the caller.
            let task = Task.detached { [vault, transport] in
                await vault.close()
                await transport.shutdown()
            }
            closing = task
            return task
        }
        await task.value
    }
}
