import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// A program of the operator's that remembers the newest state of a vault, and what becomes of a vault whose program does
/// not do what it should.
@Suite struct WitnessProgramTests {
    /// A vault with a program in a directory of its own.
    private final class Scene: Sendable {
        static let keeper =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/packaging/witness/keep-newest"

        let vault: TestedStore
        let directory: PrivateDirectory
        let alarms = Mutex<[StoreError]>([])
        let uptime = Mutex(Duration.zero)

        init() throws {
            vault = try TestedPlace.memory.make()
            directory = try PrivateDirectory()
        }

        /// The script that is installed with vaultctl.
        func keeper() throws -> WitnessProgram { try WitnessProgram([Self.keeper, directory.file("note")]) }

        /// The body of a shell script. `keep` is the program that does what it should.
        func program(_ body: String, timeLimit: Duration = .seconds(10)) throws -> WitnessProgram {
            let path = directory.file("program")
            let text = "#!/bin/sh\nkeep() { '\(Self.keeper)' '\(directory.file("note"))' \"$@\"; }\n\(body)\n"
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            return try WitnessProgram([path], timeLimit: timeLimit)
        }

        func open(_ witness: WitnessProgram, everyCommit: Bool = true) async throws -> WitnessedStore {
            try await WitnessedStore(
                try vault.open(),
                WitnessedStore.Terms(
                    witness: witness, everyCommit: everyCommit, begins: true, uptime: { self.uptime.withLock { $0 } },
                    pause: { _ in await Task.yield() },
                    alarm: { error in self.alarms.withLock { $0.append(error) } }))
        }

        func passTime() { uptime.withLock { $0 += .seconds(31) } }

        /// Until something was reported that says this; false if that does not come.
        func isAlarmed(_ words: String) async throws -> Bool {
            for _ in 0..<120_000 {
                if alarms.withLock({ $0.contains { $0.message.contains(words) } }) { return true }
                try await Task.sleep(for: .milliseconds(5))
            }
            return false
        }
    }

    private static func refusal(
        _ code: StoreError.Code, _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.hint != nil, sourceLocation: sourceLocation)
    }

    @Test func itIsGivenEachStateAndKeepsTheNewest() async throws {
        let scene = try Scene()
        let keeper = try scene.keeper()
        let store = try await scene.open(keeper)
        for _ in 0..<3 {
            _ = try await store.insertLogin(scene.vault.draft("alice"))
            #expect(try await keeper.read(store.context)?.position.sequence == store.auditHead())
        }
        let newest = try #require(try keeper.read(store.context))
        // An older note changes nothing, unless it is to replace what is there.
        let older = WitnessNote(
            position: AuditPosition(sequence: 1, link: .genesis), incarnation: newest.incarnation)
        try keeper.advance(to: older, store.context)
        #expect(try keeper.read(store.context) == newest)
        try keeper.advance(to: older, store.context, isForced: true)
        #expect(try keeper.read(store.context) == older)
        try keeper.advance(to: newest, store.context)
        await store.shutDown()
        await (try await scene.open(keeper)).shutDown()
        #expect(scene.alarms.withLock { $0 } == [])
    }

    @Test func withoutHasteItIsGivenTheLastStateAtTheEnd() async throws {
        let scene = try Scene()
        let keeper = try scene.keeper()
        let store = try await scene.open(keeper, everyCommit: false)
        for _ in 0..<10 { _ = try await store.insertLogin(scene.vault.draft("alice")) }
        await store.shutDown()
        let other = try scene.vault.open()
        defer { other.close() }
        #expect(try await keeper.read(other.context)?.position.sequence == other.auditHead())
    }

    @Test func anOlderStateIsRefusedAtOpenAndSoonWhileRunning() async throws {
        let scene = try Scene()
        let keeper = try scene.keeper()
        let store = try await scene.open(keeper, everyCommit: false)
        let login = try await store.insertLogin(scene.vault.draft("alice")).handle
        let note = try await store.read { reader throws(StoreError) in try reader.witnessNote() }
        let later = WitnessNote(
            position: AuditPosition(sequence: note.position.sequence + 100, link: note.position.link),
            incarnation: note.incarnation)
        try keeper.advance(to: later, store.context)
        await Self.refusal(.rollbackSuspected, "an older state of the vault was put back") {
            _ = try await scene.open(keeper)
        }
        // It is not asked more often than that.
        try await store.updateLogin(login) { $0.session.label = "a" }
        #expect(scene.alarms.withLock { $0 } == [])
        scene.passTime()
        // The change that finds that it is time does not wait for the answer; those that come after it are refused.
        try await store.updateLogin(login) { $0.session.label = "b" }
        #expect(try await scene.isAlarmed("an older state"))
        let head = try await store.auditHead()
        await Self.refusal(.rollbackSuspected, "an older state") {
            try await store.updateLogin(login) { $0.session.label = "c" }
        }
        #expect(try await store.auditHead() == head)
        #expect(try await store.login(login).session.label == "b")
        await store.shutDown()
        #expect(try keeper.read(store.context) == later, "it was not overwritten")
    }

    /// Short only where the program is to be stopped: a busy machine is slow to start the others. They read first, too.
    private static func timeLimit(_ words: String) -> Duration { words == "was stopped" ? .seconds(5) : .seconds(60) }

    /// What the program does when it is asked, and what the refusal says.
    private static let failures: [(String, StoreError.Code, String)] = [
        ("echo no such note >&2; exit 3", .io(0), "exit code 3: no such note"),
        ("exit 75", .io(0), "exit code 75"),
        ("kill -9 $$", .io(0), "was ended by signal 9"),
        ("head -c 5000 /dev/zero", .io(0), "more than 4096 bytes"),
        ("yes", .io(0), "more than 4096 bytes"),
        ("sleep 1000 & sleep 1000", .io(0), "was stopped"),
        ("exec 1>&- 2>&-; sleep 1000", .io(0), "was stopped"),
        ("echo hello", .rollbackSuspected, "it is not a witness's note"),
        ("keep read | sed 's/^incarnation 1$/incarnation 2/'", .rollbackSuspected, "it was changed"),
        (
            "keep read | sed -e 's,^tokenvault/2,tokenvault/3,;t' -e 's,^tokenvault/.,tokenvault/2,'",
            .rollbackSuspected, "another vault"
        ),
        ("keep read; echo", .rollbackSuspected, "it is not a witness's note"),
    ]

    @Test(arguments: failures.indices) func aVaultIsNotOpenedIfItsProgramCannotBeBelieved(_ index: Int) async throws {
        let (body, code, words) = Self.failures[index]
        let scene = try Scene()
        await (try await scene.open(scene.keeper())).shutDown()
        let began = ContinuousClock.now
        await Self.refusal(code, words) {
            _ = try await scene.open(scene.program(body, timeLimit: Self.timeLimit(words)))
        }
        // One of them sleeps for 1 000 s.
        #expect(ContinuousClock.now - began < .seconds(600))
        #expect(scene.alarms.withLock { $0 } == [])
    }

    /// What the program does with a note that it is given, and what is reported then.
    private static let liars: [(String, String)] = [
        ("true", "does not print what it keeps"),
        ("cat >/dev/null; cat OLD", "has not kept the note"),
        ("echo thanks", "it is not a witness's note"),
        ("sed 's/^incarnation 1$/incarnation 7/'", "it was changed"),
        ("echo CANARY >&2; exit 1", "exit code 1: CANARY"),
        ("sleep 1000", "was stopped"),
    ]

    /// An alarm, and no outage.
    @Test(arguments: liars.indices) func aProgramThatDoesNotKeepWhatItIsGivenIsReported(_ index: Int) async throws {
        let (body, words) = Self.liars[index]
        let scene = try Scene()
        let first = try await scene.open(scene.keeper())
        await first.shutDown()
        let old = scene.directory.file("old")
        try FileManager.default.copyItem(atPath: scene.directory.file("note"), toPath: old)
        let program = try scene.program(
            "case $1 in read) keep read;; *) \(body.replacing("OLD", with: "'\(old)'"));; esac",
            timeLimit: Self.timeLimit(words))
        let store = try await scene.open(program)
        let login = try await store.insertLogin(scene.vault.draft("alice")).handle
        #expect(try await scene.isAlarmed(words), "\(scene.alarms.withLock { $0 })")
        try await store.updateLogin(login) { $0.session.label = "x" }
        #expect(try await store.login(login).session.label == "x")
        await store.shutDown()
    }

    @Test func aSlowProgramHoldsUpNoChange() async throws {
        let scene = try Scene()
        await (try await scene.open(scene.keeper())).shutDown()
        let begun = scene.directory.file("begun")
        let mayGoOn = scene.directory.file("go-on")
        // Quick at the opening, and then not before it may go on.
        let wait = "if [ -e '\(begun)' ]; then until [ -e '\(mayGoOn)' ]; do sleep 0.1; done; fi"
        let program = try scene.program("\(wait); keep \"$@\"", timeLimit: .seconds(1_800))
        let store = try await scene.open(program, everyCommit: false)
        try Data().write(to: URL(filePath: begun))
        // None of them ends before the program does, if it has to wait for it.
        for _ in 0..<5 {
            scene.passTime()
            _ = try await store.insertLogin(scene.vault.draft("alice"))
        }
        try Data().write(to: URL(filePath: mayGoOn))
        store.close()
    }

    @Test func exitCode75IsTriedOnceMore() async throws {
        let scene = try Scene()
        let tried = scene.directory.file("tried")
        let program = try scene.program(
            "if [ -e '\(tried)' ]; then rm '\(tried)'; keep \"$@\"; else : >'\(tried)'; exit 75; fi")
        let store = try await scene.open(program)
        _ = try await store.insertLogin(scene.vault.draft("alice"))
        #expect(scene.alarms.withLock { $0 } == [])
        #expect(try await program.read(store.context)?.position.sequence == store.auditHead())
        await store.shutDown()
    }

    @Test func theProgramGetsNothingThatItWasNotMeantToGet() async throws {
        let scene = try Scene()
        let seen = scene.directory.file("seen")
        let store = try await scene.open(
            scene.program("{ env; pwd; ls /proc/self/fd | wc -l; } >'\(seen)'; keep \"$@\""))
        let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n").map(String.init)
        let variables = lines.filter { $0.contains("=") }
        let names = Set(variables.map { String($0.prefix { $0 != "=" }) })
        #expect(names.subtracting(["PATH", "HOME", "LANG", "PWD", "_", "SHLVL", "OLDPWD"]) == ["TOKENVAULT_VAULT_ID"])
        #expect(variables.contains("TOKENVAULT_VAULT_ID=\(Base32.encode(store.context.vaultID))"))
        #expect(lines.contains("/"))
        // Three streams, and the directory that ls itself looks at.
        #expect(lines.last.flatMap { Int($0.filter(\.isNumber)) } == 4)
        await store.shutDown()
    }

    @Test func aProgramThatOthersCanWriteIsNotRun() async throws {
        let scene = try Scene()
        let marker = scene.directory.file("ran")
        let program = try scene.program(": >'\(marker)'")
        try FileManager.default.setAttributes([.posixPermissions: 0o722], ofItemAtPath: scene.directory.file("program"))
        await Self.refusal(.io(0), "can be changed by other users") { _ = try await scene.open(program) }
        #expect(!FileManager.default.fileExists(atPath: marker))
        #expect(throws: VaultCryptoError.self) { try WitnessProgram(["keep-newest"]) }
    }
}
