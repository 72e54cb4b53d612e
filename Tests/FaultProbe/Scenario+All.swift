import CSQLite
import Foundation
import VaultCrypto
import VaultStorage

extension Scenario {
    static func all() async throws -> [Scenario] {
        let (image, ledger) = try await sample()
        func scenario(_ name: String, _ run: @escaping (ScenarioRun) async throws -> Void) -> Scenario {
            Scenario(name: name, image: image, ledger: ledger, run: run)
        }
        var renewal = scenario("renewal") { try await $0.work().renew("alice") }
        renewal.prepare = { run in
            run.store = try run.sandbox.open()
            try await run.work().openIntent("alice")
        }
        return [
            creation(),
            opening(image, ledger),
            scenario("insertion") { try await $0.work().insert("carol") },
            scenario("intent") { try await $0.work().openIntent("alice") },
            renewal,
            checkpoint(image, ledger),
            scenario("verification") { _ = try $0.work().store.verify { _ in } },
            try migration(image, ledger),
            keySlot(image, ledger),
            closing(image, ledger),
            scenario("beginning anew") { run in
                if case .kept(let error) = await (try run.work().store.removeRemnants()) { throw error }
            },
        ]
    }

    /// A small vault with two users, a provider and something in its WAL.
    static func sample() async throws -> (Image, Ledger) {
        let sandbox = try Sandbox()
        _ = try KeyFile.create(at: sandbox.file("spare.key"))
        let ledger = Ledger()
        let store = try sandbox.create()
        let work = Work(store: store, ledger: ledger)
        for user in users { try await work.insert(user) }
        try await work.renew("alice")
        // Somebody who has the vault open keeps what is in the WAL there.
        let company = try RawConnection(sandbox.path)
        _ = try company.integer("SELECT count(*) FROM login")
        store.close()
        let image = Image(of: sandbox)
        return withExtendedLifetime(company) { (image, ledger) }
    }

    private static func creation() -> Scenario {
        var scenario = Scenario(name: "creation", image: nil, ledger: Ledger()) { run in
            run.store = try run.sandbox.create()
            try await run.work().insert("bob")
        }
        scenario.prepare = { _ in }
        scenario.aftermath = { run, outcome in
            if run.store != nil { return await goesOnAndReopens(run, outcome) }
            // What was not made leaves nothing behind, so that it can be made now.
            if run.sandbox.names != ["vault.key"] { return "a failed creation left \(run.sandbox.names)" }
            do {
                run.store = try run.sandbox.create()
                try await run.work().insert("bob")
            } catch {
                return "cannot be made afterwards: \(error)"
            }
            return await goesOnAndReopens(run, outcome)
        }
        return scenario
    }

    private static func opening(_ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: "opening", image: image, ledger: ledger) { run in
            run.store = try run.sandbox.open()
            let store = try run.work().store
            for user in users {
                let session = try store.session(.user(user))
                _ = try store.login(session.login)
                _ = try store.user(user)
            }
            _ = try store.statistics()
        }
        scenario.prepare = { _ in }
        return scenario
    }

    /// The last connection moves the WAL into the database file, and cuts it off.
    private static func closing(_ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: "closing", image: image, ledger: ledger) { run in
            try run.work().store.close()
            run.store = nil
        }
        scenario.prepare = { run in
            run.store = try run.sandbox.open()
            try await run.work().renew("alice")
        }
        return scenario
    }

    /// What is in the WAL goes into the database file; then the WAL starts over.
    private static func checkpoint(_ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: "checkpoint", image: image, ledger: ledger) { run in
            try run.work().store.close()
            run.store = nil
            run.store = try run.sandbox.open()
            try await run.work().renew("alice")
        }
        scenario.prepare = { run in
            run.store = try run.sandbox.open()
            for _ in 0..<3 { try await run.work().renew("alice") }
        }
        return scenario
    }

    /// The vault is one version behind; the tables of the last step are empty, so that taking them away loses nothing.
    private static func migration(_ image: Image, _ ledger: Ledger) throws -> Scenario {
        let sandbox = try Sandbox()
        try sandbox.create().close()
        try RawConnection(sandbox.path).execute(
            """
            DROP INDEX loginByProvider; DROP TABLE untoldFailure; DROP TABLE walMark; DROP INDEX providerByName;
            ALTER TABLE provider DROP COLUMN nameIndex;
            DROP TABLE unusableReply; DROP TABLE authorizationRequest; DROP TABLE outbox; DROP TABLE audit;
            ALTER TABLE migration DROP COLUMN auditSequence; ALTER TABLE vault DROP COLUMN manifestCell;
            ALTER TABLE vault DROP COLUMN auditSequence; ALTER TABLE vault DROP COLUMN revision;
            DELETE FROM migration WHERE version >= 3; PRAGMA user_version = 2;
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
        var scenario = Scenario(name: "migration", image: Image(of: sandbox), ledger: Ledger()) { run in
            run.store = try run.sandbox.open(migrate: true)
        }
        scenario.prepare = { _ in }
        scenario.aftermath = { run, outcome in
            do {
                run.store?.close()
                run.store = nil
                run.store = try run.sandbox.open(migrate: true)
                try await run.work().insert("bob")
                let steps = try SQLiteVaultStore.migrations(at: run.sandbox.path)
                if steps.contains(where: { $0.appliedAt == nil }) { return "not all steps were applied" }
            } catch {
                return "cannot be migrated afterwards: \(error)"
            }
            return await goesOnAndReopens(run, outcome)
        }
        return scenario
    }

    private static func keySlot(_ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: "key slot", image: image, ledger: ledger) { run in
            _ = try await run.work().store.addKeySlot(
                KeyFileUnlocker(path: run.sandbox.file("spare.key")), label: "spare")
        }
        scenario.aftermath = { run, outcome in
            if outcome == nil {
                do { try run.sandbox.open(key: "spare.key").close() } catch { return "the new slot: \(error)" }
            }
            return await goesOnAndReopens(run, outcome)
        }
        return scenario
    }
}
