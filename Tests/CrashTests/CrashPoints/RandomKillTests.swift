import DevAuthorizationServer
import Foundation
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVault
import VaultAdministration
import VaultStorage

/// Four services with fifty logins; again and again one of them is killed, whatever it does at that moment.
@Suite(.serialized)
struct RandomKillTests {
    private static let logins = 50

    @Test func killsLoseNothingThatCouldBeKept() async throws {
        let kills = Depth.number("TOKENVAULT_KILLS", or: Depth.pick(brief: 100, nightly: 500, deep: 50_000))
        try await CrashWorld.with { world in
            let place = try await world.makeVault("kills")
            let logins = try await Self.addLogins(place, world)
            let old = place.directory + "/old.db"
            try FileManager.default.copyItem(atPath: place.vault, toPath: old)
            let witness = place.directory + "/witness"
            let vault = try await place.open(witness: witness)
            let users = try await world.users(vault)
            let left = Mutex(kills)
            let isDone = Mutex(false)
            let nurse = Nurse(world, users, logins)
            let nursing = Task {
                while !isDone.withLock({ $0 }) {
                    try await nurse.visit()
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            // Two of them let a change wait until the witness has it, so that they are killed there, too.
            let zygotes = try (0..<4).map { (zygote: try Zygote(), haste: $0.isMultiple(of: 2) ? "always" : "soon") }
            try await zygotes.concurrently { zygote, haste in
                let more = ["users": "\(Self.logins)", "witness": witness, "witnessed": haste]
                while left.withLock({ count in
                    count -= 1
                    return count >= 0
                }) {
                    let job = try await zygote.start("worker", place.arguments.merging(more) { $1 })
                    // What has ended cannot be killed, and says nothing more.
                    guard try await job.wait(for: "open") else {
                        Issue.record("a worker ended before it had the vault open: \(job.lines)")
                        continue
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 1...200)))
                    job.send(SIGKILL)
                    #expect(try await job.wait() == .signal(SIGKILL))
                }
            }
            isDone.withLock { $0 = true }
            try await nursing.value
            // Whatever was in doubt is asked for. What is being asked for in the background ends first: the answer may be a
            // death.
            for _ in 0..<2 { try await users.recover() }
            while try await !vault.diagnosis().openRenewals.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                try await users.recover()
            }
            try await nurse.visit()
            let dead = nurse.dead
            let grants = world.server.grants
            let twice = grants.filter { $0.reuseDetected > 0 }
            #expect(dead.allSatisfy { $0.reason == .lostResponse })
            #expect(dead.allSatisfy { $0.provider == ServerBehaviour.strict.rawValue }, "\(dead)")
            #expect(twice.allSatisfy { $0.client == ServerBehaviour.strict.rawValue && $0.reuseDetected == 1 })
            // A reply is lost if its process was killed between the server's rotation and the commit; the replay tells.
            #expect(dead.count == twice.count)
            #expect(dead.count <= kills)
            #expect(try await vault.diagnosis().openRenewals == [])
            for login in logins { _ = try await users.accessToken(for: .login(login), .renewed) }
            #expect(try await vault.verify().findings == [])
            let requests = world.server.grants.reduce(0) { $0 + $1.refreshRequests }
            await vault.close()
            // None of those that were begun anew was refused, as an older state is.
            let error = await #expect(throws: VaultError.self) {
                try await Vault.open(
                    at: old, unlockedBy: .keyFile(place.key), options: VaultOptions(witness: VaultWitness(witness)))
            }
            #expect(error?.code == .rollbackSuspected)
            print(
                "random kills: \(kills) of 4 processes with \(Self.logins) logins, \(requests) requests: 0 chains lost",
                "with grace, \(dead.count) without, each in the window that the server saw; 0 alarms of the witness")
        }
    }

    static func addLogins(_ place: CrashVault, _ world: CrashWorld) async throws -> [LoginID] {
        let vault = try await place.open()
        let users = try await world.users(vault)
        var made: [LoginID] = []
        for number in 0..<logins {
            let behaviour: ServerBehaviour = number.isMultiple(of: 2) ? .grace : .strict
            made.append(try await world.addLogin(users, user: "user-\(number)", behaviour).0.id)
        }
        await vault.close()
        return made
    }
}

/// Gives logins that have died a new chain, and notes what they died of.
final class Nurse: Sendable {
    struct Death: Sendable {
        let reason: RefreshFailure.Reason
        let provider: String?
    }

    private let world: CrashWorld
    private let users: UserManager
    private let logins: [LoginID]
    private let deaths = Mutex<[Death]>([])

    init(_ world: CrashWorld, _ users: UserManager, _ logins: [LoginID]) {
        self.world = world
        self.users = users
        self.logins = logins
    }

    var dead: [Death] { deaths.withLock { $0 } }

    func visit() async throws {
        for id in logins {
            let login = try await users.vault.login(id)
            guard let failure = login.failure else { continue }
            deaths.withLock { $0.append(Death(reason: failure.reason, provider: login.provider)) }
            let grant = try #require(world.server.issueGrant(user: login.userId, client: login.provider ?? ""))
            try await users.updateAccessToken(
                for: .login(id), accessToken: AccessToken(grant.accessToken),
                expiresAt: Date().addingTimeInterval(grant.expiresIn),
                refreshToken: try grant.refreshToken.map { try RefreshToken($0) })
        }
    }
}
