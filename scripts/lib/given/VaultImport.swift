// What the doc comments of VaultImport take for granted.

import BlockWorld
import Foundation
import Synchronization
import TokenVault
import TokenVaultTesting

private let temporary = Mutex<TemporaryVault?>(nil)

public func prepare(createsVault: Bool) async throws {
    let made = try await TemporaryVault(in: .memory)
    try await made.vault.addProvider(Sample.provider())
    let users = try await UserManager(vault: made.vault, transport: ScriptedTransport())
    _ = try await users.addLogin(userId: "alice", provider: "acme", refreshToken: Sample.refreshToken())
    temporary.withLock { $0 = made }
}

var vault: Vault {
    guard let made = temporary.withLock({ $0 }) else { preconditionFailure("prepare() was not called") }
    return made.vault
}

func print(_ items: Any...) { Heard.note("print") }
func put(_ user: String, _ token: RefreshToken?) async throws {}
