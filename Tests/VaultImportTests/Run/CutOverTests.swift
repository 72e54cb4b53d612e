import EngineSupport
import Foundation
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import VaultImport

/// Moves from one system to another, with a source that renews whenever it likes: as many as there are seeds.
///
/// Of each: while the source owns a chain, the vault sends no refresh token of it; a source that stops when it should costs
/// no chain; and whatever the source renews after it should have stopped is found.
@Suite(.tags(.everyEngine))
struct CutOverTests {
    private static var seeds: Int { Depth.pick(brief: 40, nightly: 150, deep: 1_000) }

    @Test func everyChainHasOneOwnerAtEachMoment() async throws {
        var total = CutOver.Figures()
        let failures = Mutex<[String]>([])
        for seed in 1...Self.seeds {
            do {
                total += try await CutOver(seed: UInt64(seed)).run()
            } catch let failure as CutOver.Failure {
                failures.withLock { $0.append("seed \(seed): \(failure)") }
            }
        }
        print(
            "cut-over: \(Self.seeds) seeds, \(total.chains) chains, \(total.sourceRenewals) renewals by sources, "
                + "\(total.readings) readings, \(total.vaultRenewals) renewals by vaults, \(total.late) by sources that "
                + "should have stopped, \(total.contested) double owners found, \(failures.withLock { $0.count }) failed"
        )
        #expect(failures.withLock { $0 } == [])
        #expect(total.late > 0 && total.contested > 0 && total.vaultRenewals > total.chains)
    }
}

/// One move.
private final class CutOver {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    struct Figures {
        var chains = 0, sourceRenewals = 0, readings = 0, vaultRenewals = 0, late = 0, contested = 0

        static func += (total: inout Figures, other: Figures) {
            total.chains += other.chains
            total.sourceRenewals += other.sourceRenewals
            total.readings += other.readings
            total.vaultRenewals += other.vaultRenewals
            total.late += other.late
            total.contested += other.contested
        }
    }

    /// What the old system has of a login.
    private struct Account {
        let user: String
        let subject: String
        var access: String
        var refresh: String
        var expires: Int
    }

    private var generator: SeededGenerator
    private let server = StrictServer()
    private var accounts: [Account] = []
    private var figures = Figures()

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private func random(_ bound: Int) -> Int { Int(generator.next() % UInt64(bound)) }

    private var store: String {
        accounts.map { account in
            #"{"user":"\#(account.user)","subject":"\#(account.subject)","provider":"acme","#
                + #""access_token":"\#(account.access)","refresh_token":"\#(account.refresh)","#
                + #""expires_at":\#(account.expires)}"# + "\n"
        }.joined()
    }

    func run() async throws -> Figures {
        let scene = try await ImportScene()
        scene.transport.fallback = server.reply
        for number in 0..<(2 + random(5)) {
            let issued = server.issue()
            accounts.append(
                Account(
                    user: "u\(number / 2)", subject: "s\(number)", access: issued.access, refresh: issued.refresh,
                    expires: Self.start + random(4_000)))
        }
        figures.chains = accounts.count
        try await whileTheSourceRenews(scene)
        try await accept(scene)
        try await after(scene)
        guard try await scene.vault.verify().isClean else { throw Failure("the vault is damaged") }
        figures.vaultRenewals = server.sent
        await scene.vault.close()
        return figures
    }

    private static let start = 1_800_000_000

    /// Phases one to three: the source renews, and is followed now and then.
    private func whileTheSourceRenews(_ scene: ImportScene) async throws {
        for _ in 0..<(4 + random(12)) {
            switch random(6) {
            case 0, 1: try renewAtSource(random(accounts.count), scene)
            case 2: try await read(scene)
            case 3: try await use(scene)
            case 4: try await tend(scene)
            default: scene.time.advance(by: .seconds(random(2_000)))
            }
        }
        guard server.sent == 0 else { throw Failure("the vault has sent \(server.sent) refresh tokens of the source") }
        // The source is stopped, whatever it did last.
        try await read(scene)
        for _ in 0..<2 {
            scene.time.advance(by: .seconds(60 + random(60)))
            guard try await read(scene) else { throw Failure("a source that stands still was said to change") }
        }
    }

    /// Phases five and six.
    private func accept(_ scene: ImportScene) async throws {
        let few = try await scene.vault.acceptImport(from: "web", limit: 1 + random(2))
        if random(2) == 0 { for login in few.logins { try await renew(login, scene) } }
        var accepted = few.count
        while accepted < accounts.count {
            let more = try await scene.vault.acceptImport(from: "web", limit: 1 + random(3), rate: 5)
            guard more.count > 0 else { throw Failure("\(accepted) of \(accounts.count) logins were accepted") }
            accepted += more.count
        }
    }

    /// Phase seven: the vault renews, and some sources do, too.
    private func after(_ scene: ImportScene) async throws {
        var late: Set<Int> = []
        let isStopped = random(2) > 0
        for _ in 0..<(3 + random(8)) {
            switch random(5) {
            case 0 where !isStopped:
                let number = random(accounts.count)
                if try renewAtSource(number, scene) { late.insert(number) }
            case 1: scene.time.advance(by: .seconds(random(3_000)))
            case 2: try await tend(scene)
            default: try await renewSome(scene, late)
            }
        }
        figures.late = late.count
        let rows = try await scene.run(store, .check).rows
        let found = Set(rows.indices.filter { rows[$0].outcome == .renewedBySource })
        guard found == late else {
            throw Failure("the source has renewed \(late.sorted()), found were \(found.sorted())")
        }
        figures.contested = found.count
        let sent = server.sent
        for number in found { await renewFails(rows[number].login, scene) }
        guard server.sent == sent else { throw Failure("a refresh token of a contested login was sent") }
        // Every other chain goes on, unless the source has spent its token behind the vault's back.
        for number in accounts.indices where !late.contains(number) {
            guard let login = rows[number].login else { throw Failure("a login is gone") }
            if isStopped { try await renew(login, scene) }
        }
    }

    // MARK: What happens

    /// Gives whether the source got new tokens.
    @discardableResult
    private func renewAtSource(_ number: Int, _ scene: ImportScene) throws -> Bool {
        guard let issued = server.renew(accounts[number].refresh) else { return false }
        accounts[number].access = issued.access
        accounts[number].refresh = issued.refresh
        accounts[number].expires = Int(scene.time.now().timeIntervalSince1970) + 3_600
        figures.sourceRenewals += 1
        return true
    }

    /// Gives whether nothing was new.
    @discardableResult
    private func read(_ scene: ImportScene) async throws -> Bool {
        figures.readings += 1
        guard random(6) > 0 else {
            // Broken off after the first batch: a row is out, and no end on record.
            let source = try ImportSource(bytes: Array(store.utf8))
            var run = ImportRun(source, into: scene.vault, options: .init(name: "web")).makeAsyncIterator()
            _ = try await run.next()
            return try await scene.run(store).result.isQuiet
        }
        return try await scene.run(store).result.isQuiet
    }

    /// An app that asks for tokens, and reports some.
    private func use(_ scene: ImportScene) async throws {
        for case .login(let login) in try await scene.vault.logins() {
            guard let token = try? await scene.users.accessToken(for: .login(login.id)) else { continue }
            if random(4) == 0 { try? await scene.users.reportRejected(token) }
        }
    }

    /// What goes on by itself.
    private func tend(_ scene: ImportScene) async throws {
        try await scene.users.recover()
        _ = try await RenewalScheduler(scene.users).runOnce()
    }

    private func renew(_ login: LoginID, _ scene: ImportScene) async throws {
        do {
            _ = try await scene.users.accessToken(for: .login(login), .renewed)
        } catch {
            throw Failure("a chain is lost: \((error as? VaultError)?.code.name ?? "\(error)")")
        }
    }

    private func renewFails(_ login: LoginID?, _ scene: ImportScene) async {
        guard let login else { return }
        _ = try? await scene.users.accessToken(for: .login(login), .renewed)
    }

    private func renewSome(_ scene: ImportScene, _ late: Set<Int>) async throws {
        for case .login(let login) in try await scene.vault.logins() where random(2) == 0 {
            _ = try? await scene.users.accessToken(for: .login(login.id), .renewed)
        }
    }
}

/// A token endpoint that gives a refresh token to be used once, and ends the grant when it sees an old one.
private final class StrictServer: Sendable {
    struct Tokens {
        let access: String
        let refresh: String
    }

    private struct State {
        var issued = 0
        var sent = 0
        /// The grant of each refresh token that was ever given.
        var grants: [String: Int] = [:]
        /// The one that is good, of each grant that lives.
        var current: [Int: String] = [:]

        mutating func tokens(of grant: Int) -> Tokens {
            issued += 1
            let tokens = Tokens(access: "a-\(issued)", refresh: "r-\(issued)")
            grants[tokens.refresh] = grant
            current[grant] = tokens.refresh
            return tokens
        }

        mutating func renew(_ token: String) -> Tokens? {
            guard let grant = grants[token] else { return nil }
            guard current[grant] == token else {
                current[grant] = nil
                return nil
            }
            return tokens(of: grant)
        }
    }

    private let state = Mutex(State())

    /// Of a new grant.
    func issue() -> Tokens {
        state.withLock { state in
            let grant = state.grants.count
            return state.tokens(of: grant)
        }
    }

    func renew(_ token: String) -> Tokens? { state.withLock { $0.renew(token) } }

    /// How many refresh tokens the vault has sent.
    var sent: Int { state.withLock { $0.sent } }

    var reply: ScriptedReply {
        ScriptedReply { request throws(HTTPTransportError) in
            let token = request.form["refresh_token"] ?? ""
            let tokens = self.state.withLock { state in
                state.sent += 1
                return state.renew(token)
            }
            let reply = tokens.map { ScriptedReply.tokens(accessToken: $0.access, refreshToken: $0.refresh) }
            return try await (reply ?? .error("invalid_grant")).reply(to: request)
        }
    }
}
