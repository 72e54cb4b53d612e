import CSQLite
import Foundation
import TestSupport
import VaultCrypto
import VaultSQLite
import VaultStorage

extension Scenario {
    static func all() async throws -> [Scenario] {
        let (image, ledger) = try await sample()
        let (fullImage, fullLedger) = try await fullSample()
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
            scenario("batches") { try await $0.work().insertBatches((0..<4).map { ["a\($0)", "b\($0)"] }) },
            scenario("intent") { try await $0.work().openIntent("alice") },
            renewal,
            scenario("pruning") { run in
                let limits = TrailLimits(before: nil, keepingLast: 1)
                guard try await run.work().store.pruneTrail(limits).removed > 0 else {
                    throw StoreError(.damaged, "there was nothing to prune")
                }
            },
            checkpoint(image, ledger),
            scenario("verification") { run in
                let findings = try await run.work().store.verify { _ in }.findings
                // It goes on after what it cannot read, and says so.
                let isTold = findings.contains { $0.problem.contains("reading or writing the vault failed") }
                if let finding = findings.first, !isTold { throw StoreError(.damaged, "\(finding)") }
            },
            try migration("migration"),
            try migration("migration beside a log", hasLog: true),
            keySlot(image, ledger),
            try await keys("proof") { try await $0.testKeySlot($0.openingKeySlot, with: $1) },
            try await keys("key removal") { store, _ in
                let slots = try await store.keySlots().map(\.handle).filter { $0 != store.openingKeySlot }
                for slot in slots.prefix(1) { try await store.removeKeySlot(slot) }
            },
            try await keys("rekey") { store, _ in try await store.rekey(store.planRekey(provenBy: [])) },
            closing(image, ledger),
            leaving(image, ledger),
            log("full log", fullImage, fullLedger),
            log("doubtful log", image.withoutLockFile, ledger),
            closingFullLog(fullImage, fullLedger),
            scenario("rotation") { run in
                _ = try await run.work().store.rotateRootKey(pause: { throw StoreError.closed }) { _ in }
            },
            scenario("index key") { run in
                guard try await run.work().store.replaceIndexKey({ _, _ in }).isComplete else {
                    throw StoreError(.damaged, "rows kept their index")
                }
            },
            scenario("audit key") { try await $0.work().store.replaceAuditKey() },
            scenario("beginning anew") { run in
                if case .kept(let error) = await (try run.work().store.removeRemnants()) { throw error }
            },
        ]
    }

    /// A small vault with two users, as a process that was killed leaves it: what it wrote last is in the WAL alone.
    static func sample() async throws -> (Image, Ledger) {
        try await sample { sandbox, work in
            for user in users { try await work.insert(user) }
            try await work.renew("alice")
        }
    }

    /// More than a process takes over as it is, which is half a megabyte.
    private static let fullLogBytes = 640 << 10

    /// The same with a WAL that is so full that the next process empties it before it commits anything.
    private static func fullSample() async throws -> (Image, Ledger) {
        try await sample { sandbox, work in
            for user in users { try await work.insert(user) }
            while (FileManager.default.contents(atPath: sandbox.path + "-wal")?.count ?? 0) < fullLogBytes {
                try await work.renew("alice")
            }
        }
    }

    private static func sample(_ body: (Sandbox, Work) async throws -> Void) async throws -> (Image, Ledger) {
        let sandbox = try Sandbox()
        _ = try KeyFile.create(at: sandbox.file("spare.key"))
        let ledger = Ledger()
        try sandbox.create().close()
        let store = try sandbox.open()
        defer { store.close() }
        try await body(sandbox, Work(store: store, ledger: ledger))
        return (Image(of: sandbox), ledger)
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
                let session = try await store.session(.user(user))
                _ = try await store.login(session.login)
                _ = try await store.user(user)
            }
            _ = try await store.statistics()
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

    /// Another one has the vault open: what is in the WAL goes into the database file behind the gate, and the WAL begins
    /// anew, with a new mark. Then the other one goes on.
    private static func leaving(_ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: "leaving", image: image, ledger: ledger) { run in
            try run.work().store.close()
            run.store = run.company
            try await run.work().renew("alice")
        }
        scenario.prepare = { run in
            run.company = try run.sandbox.open()
            run.store = try run.sandbox.open()
            for _ in 0..<3 { try await run.work().renew("alice") }
        }
        return scenario
    }

    /// The WAL is read from one end to the other. A full one is emptied behind the gate before the first commit; a doubtful
    /// one is written again, and begins anew.
    private static func log(_ name: String, _ image: Image, _ ledger: Ledger) -> Scenario {
        var scenario = Scenario(name: name, image: image, ledger: ledger) { run in
            run.store = try run.sandbox.open()
            try await run.work().renew("alice")
        }
        scenario.prepare = { _ in }
        return scenario
    }

    /// The last connection empties it, without a commit.
    private static func closingFullLog(_ image: Image, _ ledger: Ledger) -> Scenario {
        Scenario(name: "closing a full log", image: image, ledger: ledger) { run in
            try run.work().store.close()
            run.store = nil
        }
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

    /// An old vault whose newer tables are empty.
    private static func migration(_ name: String, hasLog: Bool = false) throws -> Scenario {
        let sandbox = try Sandbox()
        try sandbox.create().close()
        let connection = try RawConnection(sandbox.path)
        try connection.execute(OlderSchemas.two + "PRAGMA wal_checkpoint(TRUNCATE)")
        if hasLog { try connection.execute("UPDATE migration SET appliedAt = 77 WHERE version = 1") }
        var scenario = Scenario(name: name, image: Image(of: sandbox), ledger: Ledger()) { run in
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
        return withExtendedLifetime(connection) { scenario }
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

    /// With three ways to open the vault: whatever happens, each that is listed opens it.
    private static func keys(
        _ name: String, _ run: @escaping (SQLiteVaultStore, KeyFileUnlocker) async throws -> Void
    ) async throws -> Scenario {
        let identity = unsafe SecretBytes(
            copying: SecureRandom.bytes(32).withUnsafeBytes { unsafe Bech32.encode($0, prefix: "AGE-SECRET-KEY-") })
        let (image, ledger) = try await sample { sandbox, work in
            for user in users { try await work.insert(user) }
            _ = try await work.store.addKeySlot(KeyFileUnlocker(path: sandbox.file("spare.key")), label: "spare")
            _ = try await work.store.addKeySlot(IdentityUnlocker(identity), label: "recovery")
        }
        var scenario = Scenario(name: name, image: image, ledger: ledger) { scenario in
            try await run(scenario.work().store, KeyFileUnlocker(path: scenario.sandbox.keyPath))
        }
        scenario.aftermath = { scenario, outcome in
            do {
                let store = try scenario.sandbox.open()
                let labels = Set(try await store.keySlots().map(\.description.label))
                store.close()
                for (label, unlocker) in [
                    ("spare", KeyFileUnlocker(path: scenario.sandbox.file("spare.key"))),
                    ("recovery", try IdentityUnlocker(identity)),
                ] as [(String, any SlotUnlocker)] {
                    let opened = try? SQLiteVaultStore.open(
                        at: scenario.sandbox.path, unlocker: unlocker, clock: { Sandbox.now })
                    opened?.close()
                    guard (opened != nil) == labels.contains(label) else {
                        return "slot \(label): listed and does not open"
                    }
                }
            } catch {
                return "the vault does not open: \(error)"
            }
            return await goesOnAndReopens(scenario, outcome)
        }
        return scenario
    }
}
