// What the doc comments of TokenVaultHummingbird take for granted.

import BlockWorld
import Hummingbird
import TokenVault

public func prepare(createsVault: Bool) async throws { _ = try await Home.prepare(createsVault: createsVault) }

var users: UserManager { Home.current.users }
nonisolated(unsafe) let router = Router()
let sessions = Sessions()

struct Sessions: Sendable {
    func user(of request: Request) async -> String? { "alice" }
}
