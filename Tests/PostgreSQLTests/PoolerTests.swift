import TestSupport
import Testing

@testable import VaultPostgreSQL
@testable import VaultStorage

/// PgBouncer gives each transaction the session that happens to be free. Locks and settings need one of their own.
struct PoolerTests {
    @Test func aPoolerOfTransactionsIsRefusedAtTheOpening() throws {
        let vault = try ServerVault(PostgreSQLServer())
        try vault.server.addPooler()
        let address = try ServerAddress(vault.server.poolerAddress(schema: vault.address.schema))
        // One session after the other, so that it need not be the same one that is free.
        for _ in 0..<5 {
            let error = #expect(throws: StoreError.self) { try vault.open(at: address) }
            #expect(error?.code == .readOnly)
            #expect(error?.message.contains("pooler") == true)
            #expect(error?.hint?.contains("the database server itself") == true)
        }
    }
}
