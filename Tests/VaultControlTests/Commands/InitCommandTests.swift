import EngineSupport
import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// A vault from its making to its upgrade, as an operator meets it.
struct InitCommandTests {
    // MARK: init

    @Test func aNewVaultIsToldWithItsKey() async throws {
        let harness = try Harness()
        let json = try await harness.run("init", "--json").json
        #expect(json["keyFileIsNew"] as? Bool == true)
        #expect(json["keyFile"] as? String == harness.key)
        let again = try await harness.run("init")
        #expect(again.status == 1)
        #expect(again.error.contains(TestEngine.isServer ? "already a vault in the schema" : "a file already exists"))
    }

    /// What a killed `init` leaves between its two files.
    @Test(.aboutFiles("the vault's file is removed"))
    func aKeyFileThatIsThereIsUsedAndToldOf() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        for suffix in ["", "-wal", "-shm", ".lock"] { _ = unsafe unlink(harness.vault + suffix) }
        let result = try await harness.run("init")
        #expect(result.status == 0)
        #expect(result.error.contains("used the existing key file"))
        #expect(try await harness.run("verify").status == 0)
    }

    /// Its log may hold the only copy of its newest tokens, and its file may be found again.
    @Test(.aboutFiles("the vault's file is moved away"))
    func whatIsLeftOfALostVaultIsMovedAway() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        let script = """
            mv "$dir/app.vault" "$dir/moved" && printf frames >"$dir/app.vault-wal" && cp "$dir/app.vault-wal" "$dir/log"
            for command in status doctor 'migrate up' init; do
              "$vaultctl" $command 2>&1 >/dev/null | grep -c 'a vault was here: app.vault-wal'
            done
            "$vaultctl" init 2>&1 | grep -c 'rm '
            eval "$("$vaultctl" init 2>&1 | sed -n 's/.*of this one away: \\(mkdir .*\\)/\\1/p')"
            "$vaultctl" init >/dev/null 2>&1 && "$vaultctl" verify >/dev/null && cmp "$dir/log" "$dir/app.vault.before/app.vault-wal"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output == "1\n1\n1\n1\n0\n", "\(result.output)\(result.error)")
    }

    @Test(.aboutFiles("a file's directory is missing"))
    func aMissingDirectoryIsToldWithItsCommand() async throws {
        let harness = try Harness()
        let result = try await harness.run("init", "--vault", harness.path("no/app.vault"))
        #expect(result.status == 10)
        #expect(result.error.contains("hint: make the directory first: mkdir -m 700 \(harness.path("no"))\n"))
        #expect(!FileManager.default.fileExists(atPath: harness.key))
    }

    @Test(.aboutFiles("a file is half made"))
    func aVaultThatAFormerVersionLeftHalfMadeHasAWayOut() async throws {
        let harness = try Harness()
        let script = """
            sqlite='import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA application_id = 1414941780"); c.close()'
            python3 -c "$sqlite" "$dir/app.vault" && chmod 600 "$dir/app.vault"
            for command in init status verify 'migrate up' 'migrate status' doctor; do
              "$vaultctl" $command >/dev/null 2>"$dir/said"; printf '%s: %s\\n' "$command" "$?"
              grep -q 'never finished' "$dir/said" || "$vaultctl" $command | grep 'never finished' || cat "$dir/said"
            done
            eval "$("$vaultctl" status 2>&1 | sed -n "s/.*init. again: \\(mkdir .*\\)/\\1/p")"
            "$vaultctl" init >/dev/null && "$vaultctl" verify
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.hasPrefix("init: 2\nstatus: 2\nverify: 2\nmigrate up: 2\nmigrate status: 2\ndoctor: 3\n"))
        #expect(result.output.hasSuffix("ok: 0 users, 0 logins, 0 providers, 1 audit entry\n"), "\(result.output)")
    }

    /// Killed at any time it leaves a vault or none, and the next `init` makes one.
    @Test(.aboutFiles("the files that are left are looked at"))
    func whereverItIsKilledItCanBeRunAgain() async throws {
        let harness = try Harness()
        let kills = Depth.pick(brief: 30, nightly: 100, deep: 1_000)
        let script = """
            v="$dir/x/a.vault"; k="$dir/x/a.key"
            make() { rm -rf "$dir/x"; mkdir -m 700 "$dir/x"; }
            make; start=$(date +%s%N); "$vaultctl" init --vault "$v" --key-file "$k" >/dev/null || exit 90
            length=$(( $(date +%s%N) - start ))
            nothing=0; key=0; vault=0; whole=0
            for i in $(seq \(kills)); do
              make
              "$vaultctl" init --vault "$v" --key-file "$k" >/dev/null 2>&1 & p=$!
              sleep "$(awk "BEGIN { print $length * (0.3 + 0.8 * $i / \(kills)) / 1000000000 }")"
              kill -9 $p 2>/dev/null; wait $p 2>/dev/null && whole=$((whole + 1))
              left=$(ls "$dir/x" | tr '\\n' ' ')
              case $left in
                '') nothing=$((nothing + 1)) ;;
                'a.key ') key=$((key + 1)) ;;
                'a.key a.vault '*) vault=$((vault + 1)) ;;
                *) echo "left: $left"; exit 91 ;;
              esac
              [ -e "$v" ] || "$vaultctl" init --vault "$v" --key-file "$k" >/dev/null || exit 92
              "$vaultctl" verify --vault "$v" --key-file "$k" >/dev/null || exit 93
            done
            echo "init killed \(kills) times: $nothing left nothing, $key a key file, $vault a vault ($whole had ended)"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        print(result.output, terminator: "")
    }

    // MARK: Upgrades

    @Test(.aboutFiles("a server keeps no copies from before a migration"))
    func copiesFromBeforeAMigrationAreListedAndRemoved() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        _ = try await harness.run(
            "login", "add", "--user", "alice", "--access-token", "-", input: "CANARY-token")
        let copy = try harness.file("app.vault.before-migration-5", "old")
        let listed = try await harness.run("migrate", "status", "--json").json
        let snapshot = try #require((listed["snapshots"] as? [[String: Any]])?.first)
        #expect(snapshot["schemaVersion"] as? Int == 5)
        #expect(snapshot["bytes"] as? Int == 3)
        #expect((snapshot["path"] as? String)?.hasSuffix("/app.vault.before-migration-5") == true)
        #expect(try await harness.run("migrate", "status").error.contains("before-migration-5"))
        let erased = try await harness.run("user", "erase", "alice", "--yes")
        #expect(erased.status == 0, "\(erased.error)")
        #expect(erased.error.contains("1 copy of the vault from before a migration may still hold the user"))
        #expect(try await harness.run("migrate", "discard").status == 1, "it asks first")
        #expect(FileManager.default.fileExists(atPath: copy))
        let discarded = try await harness.run("migrate", "discard", "--yes", "--json").json
        #expect((discarded["discarded"] as? [[String: Any]])?.count == 1)
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(try await harness.run("migrate", "discard").error.contains("nothing to do"))
    }

    @Test(.aboutFiles("SQLite keeps a second version number"))
    func twoVersionsOfOneSchemaAreDamageWithAWayOut() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        let script = """
            python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 4")' "$dir/app.vault"
            for command in status verify 'migrate plan' 'migrate up' 'migrate status'; do
              "$vaultctl" $command 2>&1 >/dev/null | grep -c "hint: .*PRAGMA user_version = " ; "$vaultctl" $command >/dev/null 2>&1; echo "$?"
            done
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == String(repeating: "1\n4\n", count: 5), "\(result.output)\(result.error)")
    }

    @Test(.aboutFiles("the vault's file is cut short"))
    func aTruncatedVaultIsNotSentInACircle() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        for suffix in ["-wal", "-shm"] { _ = unsafe unlink(harness.vault + suffix) }
        #expect(unsafe truncate(harness.vault, 8192) == 0)
        let result = try await harness.run("verify")
        #expect(result.status == 4)
        #expect(result.error.contains("hint: "))
        #expect(!result.error.contains("vaultctl verify"), "\(result.error)")
    }

    // MARK: Places

    @Test(.enabled(if: geteuid() == 0, "only root can mount"), .aboutFiles("the vault lies on a mount"))
    func aVaultOnAReadOnlyMountIsReadAndVerified() async throws {
        let harness = try Harness()
        _ = try await harness.run("init")
        _ = try await harness.run(
            "login", "add", "--user", "alice", "--access-token", "-", "--expires-in", "1h", input: "CANARY-token")
        let view = harness.path("view")
        try FileManager.default.createDirectory(
            atPath: view, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try #require(unsafe mount(harness.directory, view, nil, UInt(MS_BIND), nil) == 0)
        defer { unsafe _ = umount2(view, Int32(MNT_DETACH)) }
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        try #require(unsafe mount(nil, view, nil, flags, nil) == 0)
        let there = ["TOKENVAULT_VAULT": view + "/app.vault", "TOKENVAULT_KEY_FILE": harness.key]
        for command in [
            ["verify"], ["status"], ["login", "list"], ["user", "list"], ["user", "show", "alice"], ["key", "list"],
            ["provider", "list"], ["outbox", "list"], ["migrate", "status"], ["token", "get", "--user", "alice"],
        ] {
            let result = try await harness.run(command, environment: there)
            #expect(result.status == 0, "\(command): \(result.error)")
        }
        #expect(try await harness.run(["status", "--json"], environment: there).json["isReadOnly"] as? Bool == true)
        #expect(try await harness.run("status", "--json").json["isReadOnly"] as? Bool == false)
        for command in [
            ["token", "get", "--user", "alice", "--reveal"], ["login", "refresh", "--user", "alice"],
            ["user", "disable", "alice", "--yes"],
            ["provider", "add", "acme", "--client-id", "x", "--token-endpoint", "https://a.example/token"],
        ] {
            let result = try await harness.run(command, environment: there)
            #expect(result.status == 10, "\(command): \(result.error)")
            #expect(result.error.contains("can be read"), "\(command): \(result.error)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount"), .aboutFiles("the vault lies on a mount"))
    func aFileSystemThatIsNotKnownNeedsToBeTrusted() async throws {
        let harness = try Harness()
        let point = harness.path("ramfs")
        try FileManager.default.createDirectory(
            atPath: point, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try #require(unsafe mount("ramfs", point, "ramfs", 0, "mode=700") == 0)
        defer { unsafe _ = umount2(point, Int32(MNT_DETACH)) }
        var there = ["TOKENVAULT_VAULT": point + "/app.vault", "TOKENVAULT_KEY_FILE": harness.key]
        let refused = try await harness.run(["init"], environment: there)
        #expect(refused.status == 10)
        #expect(refused.error.contains("--trust-file-system"), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: harness.key))
        #expect(try await harness.run(["init", "--trust-file-system"], environment: there).status == 0)
        let doctor = try await harness.run(["doctor"], environment: there)
        #expect(doctor.output.contains("--trust-file-system"), "\(doctor.output)")
        there["TOKENVAULT_TRUST_FILE_SYSTEM"] = "1"
        #expect(try await harness.run(["verify"], environment: there).status == 0)
        #expect(try await harness.run(["doctor"], environment: there).output.contains("ramfs"))
    }
}
