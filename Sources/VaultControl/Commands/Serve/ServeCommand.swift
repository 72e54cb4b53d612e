import ArgumentParser
import FoundationEssentials
import Platform
import Synchronization
import TokenVault
import VaultServer

struct ServeCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Give access tokens to programs of this machine, until stopped.",
        discussion: """
            Listens on a UNIX socket for HTTP requests, so that a program in any language gets tokens that are renewed \
            here. A refresh token, a secret or a key never leaves through it. The kernel says which user and group a \
            request comes from, and the policy says what they may have; it allows nothing that it does not list.

            vaultctl serve --socket /run/tokenvault/serve.sock --policy /etc/tokenvault/serve.toml --socket-group app
            curl --unix-socket /run/tokenvault/serve.sock -H 'Content-Type: application/json' \\
                -d '{"user": "alice", "provider": "acme"}' http://tokenvault/v1/token

            SIGHUP reads the policy again. SIGTERM and SIGINT end it once the requests in progress are answered. With \
            --take-over a second server takes the place of one that answers there, and no client is refused.

            Without --socket it takes the sockets that systemd has opened for it. Their FileDescriptorName= is what \
            the policy calls socket; a socket of --socket has the name "main".

            --check reads the policy and ends. With --client-user or --client-group it says whether such a program \
            may have something, and by which line: exit code 3 if not.

            vaultctl serve --policy serve.toml --check --client-user www-data --verb token --user alice --provider acme

            See docs/serve.md.
            """)

    @Option(help: .init("The socket to listen on.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(help: .init("Which programs may have which tokens.", valueName: "file"), completion: .file())
    var policy: String

    @Option(
        help: .init("The socket's permissions: programs that may write can connect. (default: 0660)", valueName: "mode")
    )
    var socketMode: SocketMode?

    @Option(help: .init("The group of the socket, by name or number.", valueName: "group"))
    var socketGroup: String?

    @Flag(help: "Take the place of a server that answers at the socket.")
    var takeOver = false

    @Flag(help: "Also renew tokens before they expire, as `vaultctl maintain` does.")
    var maintain = false

    @Flag(help: "Accept plain http to this machine, for a development server.")
    var allowInsecureLoopback = false

    @OptionGroup(title: "Checking a policy") var question: PolicyQuestionOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    var actsByItself: Bool { true }

    func validate() throws {
        try question.validate(isChecking: question.check)
        guard !question.check else {
            guard socket == nil, socketMode == nil, socketGroup == nil, !takeOver, !maintain else {
                throw ValidationError("--check starts no server: leave out the options of the socket, and --maintain")
            }
            return
        }
        guard socket != nil || socketMode == nil && socketGroup == nil && !takeOver else {
            throw ValidationError("--socket-mode, --socket-group and --take-over need --socket")
        }
        if let socketMode, socketMode.permissions & 0o222 == 0 {
            throw ValidationError("--socket-mode lets no program connect: that needs permission to write, as in 0660")
        }
        if let socket, socket.utf8.count > SocketFile.longestPath || socket.isEmpty {
            throw ValidationError(
                socket.isEmpty
                    ? "--socket is empty"
                    : "--socket is longer than the \(SocketFile.longestPath) bytes of a socket's path")
        }
    }

    func run(_ invocation: Invocation) async throws {
        if let socket, Self.isAddress(socket) {
            throw Failure.usage(
                "--socket is the path of a UNIX socket, and \(Printable.shortened(socket)) is an address",
                hint: "for example: --socket /run/tokenvault/serve.sock")
        }
        let policyFile = PolicyFile(path: policy)
        let policy = try policyFile.read()
        if question.check { return try question.answer(by: policy, invocation) }
        FileLimit.raise()
        let access = VaultAccess(global, invocation)
        let metrics = PrometheusMetrics()
        let notifier = ServiceNotifier(invocation.console.environment)
        let watchdog = notifier?.keepAlive()
        defer { watchdog?.cancel() }
        try await access.manage(UserManagerOptions(allowsInsecureLoopback: allowInsecureLoopback, metrics: metrics)) {
            users, _ in
            // Opened last: a client that connects is answered.
            let sockets = try listen(invocation)
            defer { for (_, socket) in sockets { socket.removeFile() } }
            let server = VaultServer(users: users, policy: policy, options: options(metrics, invocation))
            let names = PolicyNames(
                file: policyFile, sockets: sockets.map(\.name), vault: users.vault, invocation: invocation)
            await names.warn(of: policy)
            Interrupts.hangUpAction.withLock { action in
                action = { [socket] in Self.reload(server, names, socket) }
            }
            defer { Interrupts.hangUpAction.withLock { $0 = nil } }
            let scheduler = maintain ? RenewalScheduler(users, options: SchedulerOptions()) : nil
            try await withTaskCancellationHandler {
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await server.run(on: sockets) {
                            notifier?.send(.ready)
                            invocation.note("answering requests until SIGTERM or SIGINT")
                        }
                    }
                    if let scheduler { group.addTask { try await scheduler.run() } }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } onCancel: {
                notifier?.send(.stopping)
            }
        }
        // This command is meant to be stopped, so that is not a failure.
        throw ExitRequest(status: .success, isFinal: true)
    }

    private func options(_ metrics: PrometheusMetrics, _ invocation: Invocation) -> ServeOptions {
        var options = ServeOptions()
        options.logger = invocation.logger
        options.metrics = metrics
        options.metricsText = { metrics.text }
        options.hints = { Failure($0).hints }
        options.onUnrecorded = { client, error in
            invocation.warn("the audit trail has no row of a token that \(client) was given: \(error.message)")
        }
        return options
    }

    /// A policy with a mistake changes nothing: the one before it stays.
    private static func reload(_ server: VaultServer, _ names: PolicyNames, _ socket: String?) {
        if let socket, (try? FileStatus(at: socket))?.kind != .socket {
            names.invocation.warn(
                "the socket \(Printable.path(socket)) is gone, so no program can connect: start it again")
        }
        do throws(Failure) {
            let policy = try names.file.read()
            server.replacePolicy(policy)
            names.invocation.note("read the policy again")
            Task { await names.warn(of: policy) }
        } catch {
            names.invocation.warn("the policy stays as it was: \(error.message)")
        }
    }

    // MARK: The socket

    private func listen(_ invocation: Invocation) throws -> [(name: String, socket: ListeningSocket)] {
        guard let socket else {
            let sockets: [(name: String, socket: ListeningSocket)]
            do throws(SystemError) { sockets = try ActivatedSockets.take(invocation.console.environment) } catch {
                throw Failure(
                    .machine, "a socket that systemd has opened cannot be used: \(error.text)",
                    hints: ["in the .socket unit, use ListenStream= with a path"])
            }
            guard !sockets.isEmpty else {
                throw Failure.usage("there is no socket to listen on", hint: "name it: --socket PATH")
            }
            return sockets
        }
        let name = Printable.path(socket)
        if let refusal = TrustedFile(socket).refusalOfDirectory {
            throw Failure(.unsafeFile, "the socket's path \(name) \(refusal.reason)", hints: [refusal.hint])
        }
        let group = try group()
        try requireFree(socket, name)
        do throws(SystemError) {
            let listening = try ListeningSocket(
                replacing: socket, permissions: socketMode?.permissions ?? 0o660, group: group)
            return [("main", listening)]
        } catch {
            throw Failure(.machine, "the socket \(name) cannot be made: \(error.text)", hints: ["check --socket"])
        }
    }

    /// `https://127.0.0.1:8443`, `:8080`, `8080`
    private static func isAddress(_ socket: String) -> Bool {
        let port = socket.split(separator: ":").last ?? ""
        return socket.contains("://")
            || !socket.contains("/") && !port.isEmpty && port.allSatisfy { $0.isASCII && $0.isWholeNumber }
    }

    /// Replaces nothing but a socket at which no other server answers.
    private func requireFree(_ path: String, _ name: String) throws(Failure) {
        guard let status = try? FileStatus(at: path) else { return }
        guard status.kind == .socket else {
            throw .usage("\(name) is not a socket", hint: "choose another --socket; only a socket is replaced")
        }
        guard !takeOver, (try? SocketFile.isAnswered(at: path)) == true else { return }
        throw Failure(
            .busy, "another server answers at \(name)",
            hints: ["to take its place without refusing a client: --take-over; then stop the other one"])
    }

    private func group() throws(Failure) -> GroupID? {
        guard let socketGroup else { return nil }
        if let group = UInt32(socketGroup).map(GroupID.init) ?? GroupID(named: socketGroup) { return group }
        throw .usage(
            "this machine has no group \(Printable.named(socketGroup))", hint: "use a name or a number: --socket-group")
    }
}

/// Permissions in octal, as chmod takes them.
struct SocketMode: ExpressibleByArgument {
    let permissions: UInt32

    init?(argument: String) {
        guard (3...4).contains(argument.utf8.count), let permissions = UInt32(argument, radix: 8), permissions <= 0o777
        else { return nil }
        self.permissions = permissions
    }
}
