// What the doc comments of TokenVaultResources take for granted.

import BlockWorld
import TokenVault

public func prepare(createsVault: Bool) async throws { _ = try await Home.prepare(createsVault: createsVault) }

var users: UserManager { Home.current.users }
