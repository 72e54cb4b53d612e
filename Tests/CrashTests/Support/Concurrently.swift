import Foundation
import OAuthClient
import VaultStorage

@testable import TokenVault

extension UserManager {
    /// Renews, unless somebody else has done it meanwhile.
    func renewed(_ login: LoginID, beyond generation: Int) async throws -> VaultToken {
        let snapshot = try await vault.session(.login(login.handle))
        return try await engine.renewedToken(snapshot, demand: .newer(than: Int64(generation)), deadline: nil)
    }
}
