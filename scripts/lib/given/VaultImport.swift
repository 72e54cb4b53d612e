// What the doc comments of VaultImport take for granted.

import TokenVault

func given<T>() -> T { fatalError("only compiled") }

let vault: Vault = given()
func put(_ user: String, _ token: RefreshToken?) async throws {}
