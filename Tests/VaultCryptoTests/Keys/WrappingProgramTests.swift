import Foundation
import TestSupport
import Testing

@testable import VaultCrypto

/// Programs that give a key, or wrap one.
@Suite struct WrappingProgramTests {
    private let directory: PrivateDirectory
    private let vault = SecureRandom.bytes16()
    private let vaultKey: SealingKey

    init() throws {
        directory = try PrivateDirectory()
        vaultKey = try .generate()
    }

    private func program(_ name: String, _ text: String, mode: mode_t = 0o700) throws -> String {
        let path = directory.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, mode) == 0)
        return path
    }

    private func kms() throws -> WrappingProgram { try WrappingProgram([program("kms", Self.kms)]) }

    private func slot(_ maker: any SlotMaker, vault: Bytes16? = nil) throws -> KeySlot {
        try KeySlot.wrap(
            vaultKey, for: maker, id: SecureRandom.bytes16(), label: "KMS", createdAt: 1, vault: vault ?? self.vault)
    }

    private func failure(_ body: () throws -> Void) -> VaultCryptoError? {
        #expect(throws: VaultCryptoError.self) { try body() }
    }

    @Test func whatTheProgramWrapsItUnwraps() throws {
        let slot = try slot(kms())
        #expect(try KeySlot.unlock([slot], with: kms(), vault: vault).vaultKey.isSame(as: vaultKey))
        guard case .wrapped(let blob, let name) = slot.description.kind else {
            Issue.record("another kind")
            return
        }
        #expect(name == "projects/p/keys/k1")
        #expect(blob.count > 32 && blob.count < 200)
    }

    /// As any process does for a moment that is forked while a script is being written.
    @Test func aFileThatIsOpenForWritingIsWaitedFor() throws {
        let path = try program("kms", Self.kms)
        let open = try #require(FileHandle(forUpdatingAtPath: path))
        let closing = Thread {
            usleep(50_000)
            try? open.close()
        }
        closing.start()
        let slot = try slot(WrappingProgram([path]))
        #expect(try KeySlot.unlock([slot], with: kms(), vault: vault).vaultKey.isSame(as: vaultKey))
    }

    /// The program is told vault and slot, and may refuse what it wrapped for others.
    @Test func aWrappedKeyOfAnotherSlotIsRefused() throws {
        let (one, two) = (try slot(kms()), try slot(kms()))
        let moved = KeySlot(
            description: try KeySlotDescription(
                id: two.description.id, keyID: one.description.keyID, kind: one.description.kind, label: "KMS",
                createdAt: 1), wrappedVaultKey: one.wrappedVaultKey)
        let error = failure { _ = try KeySlot.unlock([moved], with: kms(), vault: vault) }
        #expect(error?.code == .keySourceFailed && error?.message.contains("another context") == true)
        // One that refuses does not hide another one.
        #expect(try KeySlot.unlock([moved, two], with: kms(), vault: vault).vaultKey.id == vaultKey.id)
        #expect(failure { _ = try KeySlot.unlock([one], with: kms(), vault: SecureRandom.bytes16()) } != nil)
    }

    @Test func aSlotIsBoundToItsWrappedKeyAndName() throws {
        let good = try slot(kms())
        let key = try #require(try kms().bound(to: vault).slotKey(for: good.description))
        guard case .wrapped(let blob, let name) = good.description.kind else { return }
        for kind in [
            KeySlotDescription.Kind.wrapped(blob + [0], keyName: name), .wrapped(blob, keyName: nil), .keyFile,
        ] {
            let old = good.description
            let changed = KeySlot(
                description: try KeySlotDescription(
                    id: old.id, keyID: old.keyID, kind: kind, label: old.label, createdAt: old.createdAt),
                wrappedVaultKey: good.wrappedVaultKey)
            #expect(
                failure { _ = try changed.unwrap(with: key, vault: vault) }?.code == .authenticationFailed(.commitment))
        }
    }

    @Test func aSlotThatDoesNotOpenIsNotMade() throws {
        let programs = [
            ("wrap) cat;; unwrap) head -c 32 /dev/zero", "does not unwrap"), ("wrap) true", "no wrapped key"),
            ("wrap) cat;; unwrap) echo short", "printed 6 bytes"), ("wrap) head -c 5000 /dev/zero", "more than 4096"),
            ("wrap) echo CANARY denied >&2; exit 3", "exit code 3: CANARY denied"), ("wrap) exit 75", "exit code 75"),
            ("wrap) kill -9 $$", "was ended by signal 9"),
        ]
        for (text, words) in programs {
            let path = try program("p", "#!/bin/sh\ncase $1 in \(text);; esac\n")
            let error = failure { _ = try slot(WrappingProgram([path])) }
            let code: VaultCryptoError.Code = words == "exit code 75" ? .keySourceBusy : .keySourceFailed
            #expect(error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }

    @Test func exitCode75IsTriedOnceMore() throws {
        let path = try program(
            "busy",
            "#!/bin/sh\nif [ -e \(directory.file("tried")) ]; then cat; else : > \(directory.file("tried")); exit 75; fi\n"
        )
        #expect(throws: Never.self) { try slot(WrappingProgram([path])) }
    }

    @Test func theProgramGetsNothingThatItWasNotMeantToGet() throws {
        let out = directory.file("seen")
        let path = try program(
            "env", "#!/bin/sh\n{ env; pwd; ls /proc/self/fd | wc -l; } > \(out)\ncat\n")
        let leak = unsafe open("/dev/null", O_RDONLY)
        defer { close(leak) }
        _ = try slot(WrappingProgram([path]))
        let lines = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").map(String.init)
        let names = Set(lines.filter { $0.contains("=") }.map { String($0.prefix { $0 != "=" }) })
        #expect(
            names.subtracting(["PATH", "HOME", "LANG", "PWD", "_", "SHLVL", "OLDPWD"]) == [
                "TOKENVAULT_SLOT", "TOKENVAULT_VAULT_ID",
            ])
        #expect(lines.contains("/"))
        // Three streams, and the directory that ls itself looks at.
        #expect(lines.last.flatMap { Int($0.filter(\.isNumber)) } == 4)
    }

    /// Planted slots are as many calls of a service, which cost time and money.
    @Test func programsOfAnOpeningHaveOneBudget() throws {
        let log = directory.file("runs")
        let path = try program(
            "kms", "#!/bin/sh\ncase $1 in wrap) base64 -w 0 ;; unwrap) echo >> \(log); sleep 1; base64 -d ;; esac\n")
        let good = try slot(WrappingProgram([path]))
        let planted = try (0..<31).map { _ in
            KeySlot(
                description: try KeySlotDescription(
                    id: SecureRandom.bytes16(), keyID: good.description.keyID,
                    kind: .wrapped(Array("cGxhbnRlZA==".utf8), keyName: nil), label: "", createdAt: 1),
                wrappedVaultKey: good.wrappedVaultKey)
        }
        func runs() throws -> Int { try String(contentsOfFile: log, encoding: .utf8).count }
        try Data().write(to: URL(filePath: log))
        var policy = UnlockingPolicy()
        policy.programTime = .seconds(3)
        let error = failure {
            _ = try KeySlot.unlock(planted + [good], with: WrappingProgram([path]), vault: vault, policy: policy)
        }
        #expect(error?.code == .keySourceBusy)
        #expect(try runs() <= 4)
        // The slot that opened last comes first.
        try Data().write(to: URL(filePath: log))
        policy.likelySlot = good.description.id
        let opened = try KeySlot.unlock(planted + [good], with: WrappingProgram([path]), vault: vault, policy: policy)
        #expect(opened.vaultKey.isSame(as: vaultKey))
        #expect(try runs() == 1)
    }

    @Test func whatDoesNotEndIsStoppedWithAllThatItStarted() async throws {
        let pid = directory.file("pid")
        let path = try program("slow", "#!/bin/sh\nsleep 1000 & echo $! > \(pid); wait\n")
        let slow = try OperatorProgram([path], environment: [], timeLimit: .milliseconds(500))
        let error = failure {
            _ = try unsafe slow.run(input: UnsafeRawBufferPointer(start: nil, count: 0), limit: 100)
        }
        #expect(error?.message.contains("was stopped") == true)
        let child = try #require(Int32(try String(contentsOfFile: pid, encoding: .utf8).filter(\.isNumber)))
        // Killed with the group, which takes a moment; the process that inherits it buries it.
        func isAlive() -> Bool {
            let state = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)) ?? " Z "
            return kill(child, 0) == 0 && !state.contains(" Z ")
        }
        try await eventually { !isAlive() }
    }

    @Test func aProgramThatOthersCanWriteIsNotRun() throws {
        let marker = directory.file("ran")
        let text = "#!/bin/sh\n: > \(marker)\ncat\n"
        for mode in [0o722, 0o702, 0o720] as [mode_t] {
            let error = failure { _ = try slot(WrappingProgram([program("open", text, mode: mode)])) }
            #expect(error?.message.contains("changed by other users") == true)
        }
        #expect(
            failure { _ = try slot(WrappingProgram([program("plain", text, mode: 0o600)])) }?.message.contains(
                "executed") == true)
        #expect(
            failure { _ = try slot(WrappingProgram([directory.file("none")])) }?.message.contains("does not exist")
                == true)
        for arguments in [[], ["kms"], ["./kms"], ["/bin/cat", "a\0b"]] {
            #expect(failure { _ = try WrappingProgram(arguments) }?.code == .keySourceFailed)
        }
        #expect(!FileManager.default.fileExists(atPath: marker))
    }

    @Test func aCommandPrintsALineOfAKeyFile() throws {
        let path = directory.file("a.key")
        let key = try KeyFile.create(at: path)
        let line = try OperatorProgram.keyLine(["/bin/cat", path])
        #expect(try KeyLineUnlocker(line).makeSlot(id: vault, label: "", createdAt: 1).key.id == key.id)
        let error = failure { _ = try OperatorProgram.keyLine(["/bin/cat", directory.file("a\u{1B}[2Jb")]) }
        #expect(error?.message.contains("exit code 1") == true && error?.message.contains("\u{1B}") == false)
    }

    private static let kms = """
        #!/bin/sh
        # Binds what it wraps to vault and slot, as a key management service does with its encryption context.
        context="$TOKENVAULT_VAULT_ID/$TOKENVAULT_SLOT"
        case "$1" in
        wrap) echo "key-name: projects/p/keys/k1" >&2; printf '%s ' "$context"; base64 -w 0 ;;
        unwrap) read -r bound key; [ "$bound" = "$context" ] || { echo "another context" >&2; exit 1; }
                printf '%s' "$key" | base64 -d ;;
        *) exit 2 ;;
        esac

        """
}
