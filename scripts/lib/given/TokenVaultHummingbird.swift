// What the doc comments of TokenVaultHummingbird take for granted.

import Hummingbird
import TokenVault

func given<T>() -> T { fatalError("only compiled") }

let users: UserManager = given()
nonisolated(unsafe) let router = Router()
let sessions = Sessions()

struct Sessions: Sendable {
    func user(of request: Request) async -> String? { nil }
}
