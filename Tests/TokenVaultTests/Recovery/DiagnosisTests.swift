import EngineSupport
import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault
@testable import VaultAdministration

/// What an operator is told when something is wrong.
@Suite(.tags(.everyEngine))
struct DiagnosisTests {
    @Test func aHealthyVaultHasNothingToTell() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let diagnosis = try await world.vault.diagnosis()
        #expect(diagnosis.openRenewals.isEmpty)
        #expect(!diagnosis.hasMoreOpenRenewals)
        #expect(diagnosis.ownsItsLock)
        #expect(diagnosis.spool == .init(entries: 0, tornEntries: 0, damagedEntries: 0, problem: nil))
        #expect(diagnosis.status == (try await world.vault.status()))
        #expect(diagnosis.files.filter { $0.problem != nil }.isEmpty)
        let modes = Dictionary(uniqueKeysWithValues: diagnosis.files.map { ($0.role, $0.mode) })
        let expected: [VaultDiagnosis.File.Role: UInt32?] = [
            .vault: 0o600, .wal: 0o600, .sharedMemory: 0o600, .lock: 0o600, .directory: 0o700,
        ]
        #expect(TestEngine.isServer ? modes.isEmpty : modes.filter { expected[$0.key] != nil } == expected)
        let known = try await world.vault.diagnosis(of: login.id)
        #expect(known.login == (try await world.vault.login(login.id)))
        #expect(known.renewal == nil)
        #expect(known.nextStep == .renewWhenNeeded)
    }

    @Test(.aboutFiles("the mode of the WAL is changed")) func filesThatOthersCanReadAreNamed() async throws {
        let world = try await World()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: world.temporary.address + "-wal")
        let file = try #require(try await world.vault.diagnosis().files.first { $0.role == .wal })
        #expect(file.mode == 0o644)
        #expect(file.problem != nil)
        #expect(file.hint?.contains("chmod") == true)
    }

    @Test func eachStateHasItsNextStep() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let now = world.vault.now
        func step(_ change: @escaping @Sendable (inout LoginState) -> Void) async throws -> LoginDiagnosis.NextStep {
            let login = try await world.addChain(user: "\(LoginHandle.random())")
            try await world.vault.store.updateLogin(login.id.handle) { change(&$0) }
            return try await world.vault.diagnosis(of: login.id).nextStep
        }
        let later = now.advanced(by: .seconds(30))
        let own = world.vault.store.owner
        let other = try await world.anotherProcess()
        let stranger = other.vault.store.owner
        #expect(try await step { $0.session.failure = FailureRecord(reason: 1, at: now) } == .setTokenOrLogIn)
        #expect(
            try await step { $0.session.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: now) }
                == .userMustAct)
        #expect(try await step { $0.session.state = .terminated } == .logIn)
        #expect(try await step { $0.session.notBefore = later } == .wait(until: later.date))
        #expect(try await step { $0.refresh = nil } == .appSuppliesToken)
        #expect(try await step { $0.openIntent(owner: own ^ 1, at: now) } == .recover)
        #expect(try await step { $0.openIntent(owner: stranger, at: now) } == .waitForRenewal)
        #expect(
            try await step { $0.openIntent(owner: stranger, at: now.advanced(by: .seconds(-60)), tries: 1) }
                == .takeOverStalled)
        // It asks its app, which may take a minute of its own.
        for (seconds, next) in [(-119, LoginDiagnosis.NextStep.waitForRenewal), (-120, .takeOverStalled)] {
            let start = now.advanced(by: .seconds(seconds))
            #expect(try await step { $0.openIntent(owner: stranger, at: start, tries: 0) } == next)
        }
        // Of this process, and nobody is at work on it.
        #expect(try await step { $0.openIntent(owner: own, at: now) } == .sendAgain(notBefore: nil))
        #expect(
            try await step { state in
                state.openIntent(owner: IntentRecord.nobody, at: now, doubtSince: now, tries: 1)
                state.session.notBefore = later
            } == .sendAgain(notBefore: later.date))
        try await world.users.disableUser("alice")
        #expect(try await world.vault.diagnosis(of: login.id).nextStep == .enableUser)
        #expect(await code { try await world.vault.diagnosis(of: LoginID(.random())) } == .unknownLogin)
        await other.vault.close()
    }
}
