import DevAuthorizationServer
import Foundation
import OAuthClient
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// The invariants of a vault after a crash, asked of the vault and of the server.
struct CrashExamination {
    private let scene: CrashScene
    private let vault: Vault
    private let primed: Int
    private let before: Login?
    private let kills: Int
    private var finding = CrashFinding()

    private var crash: CrashCase { scene.crash }
    private var world: CrashWorld { scene.world }

    init(_ scene: CrashScene, _ vault: Vault, primed: Int, before: Login?, kills: Int) {
        self.scene = scene
        self.vault = vault
        self.primed = primed
        self.before = before
        self.kills = kills
    }

    mutating func run() async throws -> CrashFinding {
        let users = try await world.users(vault)
        switch crash.action {
        case .refresh, .serve, .open, .recover, .provider: try await examineChain(users)
        case .set, .setChain: try await examineSetToken(users)
        case .login, .add: try await examineLogIn(users)
        case .logout, .disable, .erase, .revoke: try await examineEnd(users)
        }
        if try await vault.diagnosis().openRenewals != [] { problem("an intent is left") }
        if try await vault.diagnosis().spool.entries != 0 { problem("the spool is not empty") }
        let verification = try await vault.verify()
        if !verification.findings.isEmpty { problem("verify: \(verification.findings)") }
        if let file = secretOnDisk() { problem("a secret in \(file)") }
        return finding
    }

    private mutating func problem(_ text: String) { finding.problems.append(text) }

    // MARK: A chain that was being renewed

    private mutating func examineChain(_ users: UserManager) async throws {
        guard let login = scene.login, let id = scene.grant, let before else { return }
        // Making the manager has brought back what was in the spool.
        let left = try await vault.store.login(login.handle)
        let grant = try world.grant(id)
        let requests = grant.refreshRequests - primed
        finding.hadActed = requests > 0
        if left.position.generation < before.generation { problem("the generation went back") }
        // I2, L4: what was sent is known of.
        if requests > 0, left.intent == nil, left.position.generation == before.generation, left.session.failure == nil
        {
            problem("sent without an intent")
        }
        let isHeld = holds(left, grant)
        // A grant that forgives gives it again.
        let mayBeLost = !isHeld && !crash.behaviour.forgives
        for _ in 0..<2 { _ = try await users.recover() }
        let after = try await vault.login(login)
        if after.generation < left.position.generation { problem("the generation went back in recovery") }
        if let failure = after.failure {
            finding.outcome = "\(failure.reason)"
            if failure.reason != .lostResponse { problem("died as \(failure.reason)") }
            if !mayBeLost { problem("a chain is lost that could be kept") }
            try await checkDead(users, login, id)
        } else {
            if mayBeLost { problem("lives although its token is lost") }
            finding.outcome = after.generation == left.position.generation ? "idle" : "idle after recovery"
            try await checkAlive(users, login, id)
        }
        let end = try world.grant(id)
        if end.reuseDetected > (mayBeLost ? 1 : 0) { problem("spent twice: \(end.reuseDetected)") }
        checkPresentations(id)
    }

    private func holds(_ stored: StoredLogin, _ grant: GrantSummary) -> Bool {
        TokenFingerprint.of(stored.refresh?.refreshToken) == grant.currentRefreshToken
    }

    private mutating func checkAlive(_ users: UserManager, _ login: LoginID, _ id: String) async throws {
        do {
            let token = try await users.accessToken(for: .login(login), .renewed)
            if !token.accessToken.reveal().contains("CANARY-") { problem("a token of somebody else") }
        } catch {
            let answers = world.server.log.tokenRequests(user: scene.user).map { "\($0.outcome) \($0.reason ?? "")" }
            return problem("cannot be renewed: \(error); server: \(answers)")
        }
        if !holds(try await vault.store.login(login.handle), try world.grant(id)) {
            problem("holds another token than the server")
        }
    }

    private mutating func checkDead(_ users: UserManager, _ login: LoginID, _ id: String) async throws {
        let requests = try world.grant(id).refreshRequests
        do {
            _ = try await users.accessToken(for: .login(login), .renewed)
            problem("a dead login was renewed")
        } catch let error as VaultError {
            if error.code != .lostResponse { problem("died, and says \(error.code)") }
        }
        if try world.grant(id).refreshRequests != requests { problem("a dead login sent something") }
        if try await vault.store.login(login.handle).refresh != nil { problem("a dead login has a refresh token") }
    }

    /// Each token was sent once, and once more for each reply that cannot have come.
    private mutating func checkPresentations(_ id: String) {
        let lost = (crash.course == .answers ? 0 : 1) + kills
        for token in world.server.refreshTokens where token.grant == id && crash.behaviour.rotates {
            if token.presented > 1 + lost { problem("a token was sent \(token.presented) times") }
        }
    }

    // MARK: Other changes

    private mutating func examineSetToken(_ users: UserManager) async throws {
        guard let login = scene.login else { return }
        let old = before?.generation ?? 0
        let current = try await vault.login(login)
        finding.outcome = current.generation == old ? "old token" : "new token"
        let token = try await users.accessToken(for: .login(login))
        let isSet = token.accessToken.reveal() == "CANARY-set-by-app-\(scene.user)"
        if isSet != (current.generation > old) { problem("generation and token do not belong together") }
        if (try? await users.accessToken(for: .login(login), .renewed)) == nil { problem("cannot be renewed") }
    }

    private mutating func examineLogIn(_ users: UserManager) async throws {
        let logins = (try? await vault.logins(ofUser: scene.user)) ?? []
        finding.outcome = logins.isEmpty ? "no login" : "login"
        if logins.count > 1 { problem("\(logins.count) logins") }
        if logins.isEmpty {
            try await world.addLogin(users, user: scene.user, crash.behaviour)
        }
        if (try? await users.updateAccessToken(userId: scene.user)) == nil { problem("cannot be renewed") }
    }

    private mutating func examineEnd(_ users: UserManager) async throws {
        guard let login = scene.login, let id = scene.grant else { return }
        let stored = try? await vault.login(login)
        let pending = try await vault.pendingRevocations(limit: 10).entries
        finding.hadActed = try world.grant(id).isRevoked
        let isLive = stored?.isRefreshable ?? false
        finding.outcome = isLive ? "not ended" : pending.isEmpty ? "ended" : "ended, to be revoked"
        if pending.count > 1 { problem("\(pending.count) revocations of one token") }
        if isLive, !pending.isEmpty { problem("a living login waits for its revocation") }
        if isLive { try await users.logOut(.login(login)) }
        _ = try await users.retryRevocations(.all)
        if try await !vault.pendingRevocations(limit: 10).entries.isEmpty { problem("a revocation is left") }
        if try !world.grant(id).isRevoked { problem("the grant lives") }
    }

    // MARK: Plaintext

    private func secretOnDisk() -> String? {
        let mark = Data("CANARY-".utf8)
        let files = FileManager.default.enumerator(atPath: scene.place.directory)
        while let name = files?.nextObject() as? String {
            guard let data = FileManager.default.contents(atPath: scene.place.directory + "/" + name) else { continue }
            if data.range(of: mark) != nil { return name }
        }
        return nil
    }
}
