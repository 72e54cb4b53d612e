import Glibc
import Synchronization
import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// What remembers the newest state of a vault, apart from it, on each engine.
@Suite struct WitnessTests {
    /// A vault with a witness in a directory of its own.
    private final class Scene: Sendable {
        let vault: TestedStore
        let directory: PrivateDirectory
        let alarms = Mutex<[StoreError]>([])
        let uptime = Mutex(Duration.zero)

        init(_ place: TestedPlace) throws {
            vault = try place.make()
            directory = try PrivateDirectory()
        }

        var file: WitnessFile { WitnessFile(directory.file("note")) }
        var logPath: String { directory.file("intents") }

        func open(everyCommit: Bool = true, log: Bool = false) async throws -> WitnessedStore {
            try await WitnessedStore(
                try vault.open(),
                WitnessedStore.Terms(
                    witness: file, log: log ? IntentLog(logPath) : nil, everyCommit: everyCommit, begins: true,
                    uptime: { self.uptime.withLock { $0 } }, pause: { _ in await Task.yield() },
                    alarm: { error in self.alarms.withLock { $0.append(error) } }))
        }

        func passTime() { uptime.withLock { $0 += .seconds(2) } }

        func note(_ store: any VaultStore) throws -> WitnessNote? { try file.read(store.context) }

        func text() throws -> String { String(decoding: try bytes(file.path), as: UTF8.self) }

        func write(_ text: String) throws {
            let descriptor = unsafe Glibc.open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            defer { close(descriptor) }
            let bytes = Array(text.utf8)
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            try #require(count == bytes.count)
        }

        func bytes(_ path: String) throws -> [UInt8] {
            let descriptor = unsafe Glibc.open(path, O_RDONLY)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
            return Array(bytes.prefix(max(0, count)))
        }
    }

    private static func expectRefused(
        _ words: String, wayOut: String = "vaultctl witness accept",
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == .rollbackSuspected, sourceLocation: sourceLocation)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.hint?.contains(wayOut) == true, "\(error?.hint ?? "")", sourceLocation: sourceLocation)
    }

    @Test(arguments: TestedPlace.allCases) func itIsBehindTheVaultAndNeverAhead(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        for _ in 0..<5 {
            _ = try await store.insertLogin(scene.vault.draft("alice"))
            let note = try #require(try scene.note(store))
            #expect(try await note.position.sequence == store.auditHead())
        }
        let lines = try scene.text().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 7 && lines[0].hasPrefix("tokenvault/") && lines[0].hasSuffix("/witness"))
        #expect(lines[1] == "\(try await store.auditHead())")
        #expect(lines[3] == "incarnation \(store.context.incarnation)")
        // An older note changes nothing.
        let newest = try #require(try scene.note(store))
        try scene.file.advance(
            to: WitnessNote(position: AuditPosition(sequence: 1, link: .genesis), incarnation: newest.incarnation),
            store.context)
        #expect(try scene.note(store) == newest)
        await store.shutDown()
        let again = try await scene.open()
        #expect(try await again.verify().isClean)
        #expect(scene.alarms.withLock { $0.isEmpty })
        await again.shutDown()
    }

    @Test(arguments: TestedPlace.allCases) func withoutHasteItIsWrittenSoonAndAtTheEnd(_ place: TestedPlace)
        async throws
    {
        let scene = try Scene(place)
        let store = try await scene.open(everyCommit: false)
        for _ in 0..<20 { _ = try await store.insertLogin(scene.vault.draft("alice")) }
        await store.shutDown()
        let other = try scene.vault.open()
        defer { other.close() }
        #expect(try await scene.note(other)?.position.sequence == other.auditHead())
    }

    /// The witness has seen what the vault does not have.
    @Test(arguments: TestedPlace.allCases) func anOlderStateIsRefusedAtOpenAndWhileRunning(
        _ place: TestedPlace
    ) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        let login = try await store.insertLogin(scene.vault.draft("alice")).handle
        let seen = try #require(try scene.note(store))
        let later = WitnessNote(
            position: AuditPosition(sequence: seen.position.sequence + 1, link: seen.position.link),
            incarnation: seen.incarnation)
        try scene.file.advance(to: later, store.context)
        await Self.expectRefused("an older state of the vault was put back") { _ = try await scene.open() }
        scene.passTime()
        let head = try await store.auditHead()
        await Self.expectRefused("an older state") { try await store.updateLogin(login) { $0.session.label = "x" } }
        // From then on, whatever becomes of the file.
        unsafe unlink(scene.file.path)
        await Self.expectRefused("an older state") { try await store.updateLogin(login) { $0.session.label = "x" } }
        #expect(try await store.auditHead() == head, "nothing was written")
        #expect(try await store.login(login).handle == login, "and everything can be read")
    }

    @Test(arguments: TestedPlace.allCases) func aForkIsToldFromARollback(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        let seen = try #require(try scene.note(store))
        let other = WitnessNote(
            position: AuditPosition(sequence: seen.position.sequence, link: .genesis), incarnation: seen.incarnation)
        try scene.file.advance(to: other, store.context, isForced: true)
        await Self.expectRefused("two copies of the vault are in use") { _ = try await scene.open() }
        scene.passTime()
        await Self.expectRefused("two copies") { _ = try await store.insertLogin(scene.vault.draft("bob")) }
    }

    /// A restored vault has a newer incarnation than the witness of the vault that it was made of.
    @Test(arguments: TestedPlace.allCases) func aRestoredVaultIsToldFromBoth(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        let seen = try #require(try scene.note(store))
        await store.shutDown()
        let restored = try scene.vault.open()
        try await restored.holdAllLogins(AuditEvent(.vaultRestored))
        let context = restored.context
        restored.close()
        for other in [
            AuditPosition(sequence: seen.position.sequence + 100, link: seen.position.link),
            AuditPosition(sequence: seen.position.sequence, link: .genesis),
        ] {
            try scene.file.advance(
                to: WitnessNote(position: other, incarnation: seen.incarnation), context, isForced: true)
            await Self.expectRefused("restored from a backup") { _ = try await scene.open() }
        }
        // What it knows of the trail that goes on is no reason.
        try scene.file.advance(to: seen, context, isForced: true)
        await (try await scene.open()).shutDown()
    }

    @Test(arguments: TestedPlace.allCases) func whatWasPrunedSinceIsNoRollback(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        let old = try scene.text()
        for _ in 0..<20 { try await store.record(AuditEvent(.failureNotified)) }
        while try await store.pruneTrail(TrailLimits(before: nil, keepingLast: 2)).hasMore {}
        await store.shutDown()
        try scene.write(old)
        let again = try await scene.open()
        #expect(try await scene.note(again)?.position.sequence == again.auditHead())
        await again.shutDown()
    }

    @Test(arguments: TestedPlace.allCases) func aNoteThatWasChangedIsRefused(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        await store.shutDown()
        let note = try scene.text()
        let firstLine = note.utf8.prefix { $0 != 0x0A }.count
        var refused = 0
        for index in note.utf8.indices where note.utf8[index] < 0x80 {
            var bytes = Array(note.utf8)
            let offset = note.utf8.distance(from: note.utf8.startIndex, to: index)
            bytes[offset] = bytes[offset] == 0x31 ? 0x32 : 0x31
            try scene.write(String(decoding: bytes, as: UTF8.self))
            // The first line names the vault: whether it was changed, or is another's, cannot be known.
            let isOfAnother = offset < firstLine
            await Self.expectRefused(
                "says nothing about this vault", wayOut: isOfAnother ? "--witness PATH" : "vaultctl witness accept"
            ) { _ = try await scene.open() }
            refused += 1
        }
        #expect(refused > 100)
        try scene.write("")
        await Self.expectRefused("it is not a witness's note") { _ = try await scene.open() }
        let other = try Scene(place)
        let stranger = try await other.open()
        try scene.write(try other.text())
        await Self.expectRefused("another vault", wayOut: "--witness PATH") { _ = try await scene.open() }
        let error = #expect(throws: StoreError.self) { _ = try scene.file.replaceableText(store.context) }
        #expect(error?.code == .invalidValue && error?.message.contains("the note of another vault") == true)
        #expect(try scene.file.replaceableText(stranger.context) == other.text())
        await stranger.shutDown()
    }

    /// A vault begins once with a witness: the trail records it.
    @Test(arguments: TestedPlace.allCases) func noteThatIsLostIsNotBegunAgain(_ place: TestedPlace) async throws {
        let scene = try Scene(place)
        let store = try await scene.open()
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        await store.shutDown()
        for _ in 0..<2 {
            unsafe unlink(scene.file.path)
            await Self.expectRefused("has had a witness since") { _ = try await scene.open() }
            let other = try scene.vault.open()
            defer { other.close() }
            await Self.expectRefused("has had a witness since") { try await other.begin(scene.file) }
            #expect(try scene.file.text(other.context) == nil)
            // By an operator's decision.
            try await other.holdAllLogins(AuditEvent(.witnessReplaced))
        }
    }

    /// An alarm, and no outage.
    @Test func aWitnessThatCannotBeWrittenHoldsUpNothing() async throws {
        let scene = try Scene(.memory)
        let store = try await scene.open()
        unsafe unlink(scene.file.path + ".lock")
        unsafe mkdir(scene.file.path + ".lock", 0o700)
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        #expect(scene.alarms.withLock { $0.count } > 0)
        unsafe rmdir(scene.file.path + ".lock")
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        #expect(try await scene.note(store)?.position.sequence == store.auditHead())
    }

    @Test(arguments: TestedPlace.allCases) func theLogNamesEachLoginBeforeItsTokenIsSent(
        _ place: TestedPlace
    ) async throws {
        let scene = try Scene(place)
        let store = try await scene.open(log: true)
        let opened = try await store.auditHead()
        let alice = try await store.insertLogin(scene.vault.draft("alice")).handle
        let bob = try await store.insertLogin(scene.vault.draft("bob")).handle
        let now = scene.vault.now
        func begin(_ login: LoginHandle) async throws -> Int64 {
            try await store.updateLogin(login) { state in
                state.openIntent(owner: 7, at: now)
                state.auditEvents = [AuditEvent(.renewalStarted)]
            }
            return try await store.auditHead()
        }
        let first = try await begin(alice)
        try await store.updateLogin(alice) { state in
            state.intent = nil
            state.position = state.position.successor
        }
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await store.updateLogin(bob) { state in
                state.openIntent(owner: 7, at: now)
                throw Refusal()
            }
        }
        // What cannot be written is missed for as long as it lasts, and told afterwards.
        let kept = scene.logPath + ".kept"
        unsafe rename(scene.logPath, kept)
        unsafe mkdir(scene.logPath, 0o700)
        let missed = try await begin(bob)
        unsafe rmdir(scene.logPath)
        unsafe rename(kept, scene.logPath)
        let last = try await begin(alice)
        let text = String(decoding: try scene.bytes(scene.logPath), as: UTF8.self)
        let vault = Base32.encode(store.context.vaultID)
        #expect(
            text == "begin \(opened) 1 \(vault)\n\(first) \(alice.text) 1\n\ngap \(missed)\n\(last) \(alice.text) 2\n")
        // A log that is new says from where on it is complete.
        unsafe unlink(scene.logPath)
        let next = try await begin(bob)
        let begun = String(decoding: try scene.bytes(scene.logPath), as: UTF8.self)
        #expect(begun == "begin \(next - 1) 1 \(vault)\n\(next) \(bob.text) 1\n")
        #expect(scene.alarms.withLock { $0.count } == 1)
    }
}
