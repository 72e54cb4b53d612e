import DevAuthorizationServer
import Foundation
import OAuthClient
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultStorage

import TokenVault

/// What each scene begins with: a vault without logins.
enum CrashTemplate: Sendable {
    /// Copies of these files.
    case files([String: Data])
    /// A schema of its own on this server.
    case server(PostgreSQLServer)

    static func files(_ world: CrashWorld) async throws -> CrashTemplate {
        let place = try await world.makeVault("template-\(UUID().uuidString)")
        var files: [String: Data] = [:]
        for name in ["vault.db", "vault.db-wal", "vault.key"] {
            files[name] = FileManager.default.contents(atPath: place.directory + "/" + name)
        }
        return .files(files)
    }

    func makeVault(_ name: String, _ world: CrashWorld) async throws -> CrashVault {
        switch self {
        case .files(let files):
            let place = CrashVault(try world.directory.subdirectory(name))
            for (name, data) in files {
                #expect(
                    FileManager.default.createFile(
                        atPath: place.directory + "/" + name, contents: data, attributes: [.posixPermissions: 0o600]))
            }
            return place
        case .server(let server):
            return try await world.makeVault(name, on: server.address(schema: PostgreSQLServer.newSchema()))
        }
    }
}

/// One vault with one login, the process that is struck, and the one that comes after it.
final class CrashScene: Sendable {
    let world: CrashWorld
    let crash: CrashCase
    let place: CrashVault
    let user: String
    /// Open all the time in every second scene: a sibling. Else the vault is opened anew: a restart.
    let sibling: Vault?
    let login: LoginID?
    let grant: String?
    private let before: Login?

    private static let numbers = Atomic<Int>(0)

    init(_ world: CrashWorld, _ template: CrashTemplate, _ crash: CrashCase, keepsSibling: Bool) async throws {
        self.world = world
        self.crash = crash
        let number = Self.numbers.add(1, ordering: .relaxed).newValue
        user = "user-\(number)"
        place = try await template.makeVault("\(number)", world)
        let vault = try await place.open()
        let users = try await world.users(vault)
        if [.login, .add].contains(crash.action) {
            (login, grant, before) = (nil, nil, nil)
        } else {
            let (login, grant) = try await world.addLogin(users, user: user, crash.behaviour)
            // The first renewal brings the nonce.
            if crash.behaviour.isBound { _ = try await users.accessToken(for: .login(login.id), .renewed) }
            if crash.action == .revoke {
                world.server.faults.add(.status(503).for(path: "/revoke", user: user))
                try await users.logOut(.login(login.id))
            }
            (self.login, self.grant) = (login.id, grant)
            before = crash.action == .revoke ? nil : try await vault.login(login.id)
        }
        if keepsSibling {
            sibling = vault
        } else {
            sibling = nil
            await vault.close()
        }
        switch crash.course {
        case .answers: break
        case .drops: world.server.faults.add(.drop(afterActing: true).for(user: user))
        case .ignores: world.server.faults.add(.drop(afterActing: false).for(user: user))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: place.directory) }

    /// How many refresh requests came before the struck process was there.
    var primed: Int { crash.behaviour.isBound && login != nil ? 1 : 0 }

    func options(_ action: CrashCase.Action) throws -> [String: String] {
        var options = place.arguments.merging([
            "user": user, "action": action == .setChain ? "set" : action.rawValue, "server": "\(world.server.port)",
            "provider": crash.behaviour.rawValue,
        ]) { $1 }
        if action == .serve { options["socket"] = place.directory + "/serve.sock" }
        if [.set, .setChain, .add].contains(action) { options["access"] = "CANARY-set-by-app-\(user)" }
        if [.setChain, .add].contains(action) {
            let issued = world.server.issueGrant(user: user, client: crash.behaviour.rawValue)
            options["token"] = issued?.refreshToken ?? ""
        }
        return options
    }

    /// Lets the process do it, and be struck.
    func strike(_ zygote: Zygote) async throws -> Job.End {
        let job = try await begin(zygote, crash.action, crash.strike)
        return try await end(of: job)
    }

    func begin(
        _ zygote: Zygote, _ action: CrashCase.Action, _ strike: CrashCase.Strike, stops: Bool = false
    ) async throws -> Job {
        var arguments = try options(action).merging(strike.options(request: crash.lastRequest)) { $1 }
        if stops { arguments["how"] = "stop" }
        return try await zygote.start("victim", arguments)
    }

    func end(of job: Job) async throws -> Job.End {
        let end = try await job.wait()
        lines.withLock { $0 = job.lines }
        return end
    }

    private let lines = Mutex<[String]>([])
    var said: [String] { lines.withLock { $0 } }
    var operations: Int { said.last { $0.hasPrefix("operations ") }.flatMap { Int($0.dropFirst(11)) } ?? 0 }

    /// Comes after the struck process, checks what it left, recovers, and checks what has become of it.
    ///
    /// - Parameter kills: How many processes died on this way.
    func examine(kills: Int = 1) async throws -> CrashFinding {
        let vault: Vault
        await settleServer()
        if let sibling { vault = sibling } else { vault = try await place.open() }
        var examination = CrashExamination(self, vault, primed: primed, before: before, kills: kills)
        let finding = try await examination.run()
        await vault.close()
        return finding
    }
}

extension CrashScene {
    /// What the struck process had sent whole is answered, and the one after it meets an honest server.
    private func settleServer() async {
        if case .seam("requestSent", let request) = crash.strike {
            let deadline = ContinuousClock.now + .seconds(300)
            while answered < primed + request, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
        world.server.faults.removeAll(user: user)
    }

    /// Requests to the token endpoint that the server has dealt with.
    var answered: Int { world.server.log.tokenRequests(user: user).count }
}

/// What a struck process left behind, in words that can be counted.
struct CrashFinding: Sendable {
    var problems: [String] = []
    var outcome = ""
    /// Whether the server had acted on a request of the struck process.
    var hadActed = false
}
