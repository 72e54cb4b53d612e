import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultControl

/// Between two commands a vault is one file. Each command is a process of its own here.
@Suite(.aboutFiles("the file is the whole vault"))
struct WholeVaultTests {
    /// `run COMMAND…` runs a command that must succeed, and then wants a copy of the vault's file alone to be a vault.
    private static let prelude = """
        set -u
        run() {
            "$vaultctl" "$@" >"$dir/out" || { echo "failed: $*"; exit 1; }
            if [ -s "$dir/app.vault-wal" ]; then echo "not whole after: $*"; exit 1; fi
            cp "$dir/app.vault" "$dir/copy.vault" && "$vaultctl" verify --quiet --vault "$dir/copy.vault" >/dev/null ||
                { echo "the copy is no vault after: $*"; exit 1; }
            rm "$dir"/copy.vault*
            commands=$((commands + 1))
        }
        commands=0
        (umask 077 && printf CANARY-token >"$dir/token")
        """

    @Test func afterEachCommandTheFileIsTheWholeVault() async throws {
        let result = try await Program(harness: Harness()).shell(
            Self.prelude + """

                run init
                run provider add acme --issuer http://127.0.0.1:1 --client-id demo --allow-insecure-loopback \\
                    --token-endpoint http://127.0.0.1:1/token --authorization-endpoint http://127.0.0.1:1/authorize
                run login add --user alice --access-token-file "$dir/token" --expires-in 1h
                run login add --user bob --access-token-file "$dir/token" --expires-in 1h
                run token update --user alice --access-token-file "$dir/token" --expires-in 2h
                run token get --user alice
                run user disable bob --yes
                run user list
                run status
                run verify
                run migrate status
                run key list
                run provider list
                run user erase alice --yes
                run outbox list
                "$vaultctl" user show nobody 2>/dev/null && exit 1
                "$vaultctl" status --key-file "$dir/token" 2>/dev/null && exit 1
                run status --brief
                echo "$commands commands"
                """)
        #expect(result.output == "16 commands\n", "\(result.output) \(result.error)")
    }

    @Test(arguments: [false, true]) func manyUpdatesLeaveNoTrace(hasCompany: Bool) async throws {
        let count = Depth.pick(brief: 20, nightly: 20, deep: 300)
        let result = try await Program(harness: Harness()).shell(
            Self.prelude + """

                run init
                run login add --user alice --access-token-file "$dir/token" --expires-in 1h
                company=
                if \(hasCompany); then "$vaultctl" events --follow >/dev/null 2>&1 & company=$!; fi
                largest=0
                for number in $(seq \(count)); do
                    "$vaultctl" token update --user alice --access-token-file "$dir/token" --expires-in 1h --quiet || exit 1
                    size=$(stat -c %s "$dir/app.vault-wal")
                    [ "$size" -le "$largest" ] || largest=$size
                done
                [ -z "$company" ] || { kill -TERM "$company"; wait "$company"; }
                run status
                echo "$largest"
                """)
        let largest = try #require(
            Int(result.output.split(separator: "\n").last ?? ""), "\(result.output) \(result.error)")
        print(
            "vaultctl: \(count) token updates\(hasCompany ? " beside another process" : ""), WAL at most \(largest >> 10) KiB"
        )
        #expect(hasCompany ? largest < 1 << 20 : largest == 0)
    }

    @Test func anErasureSaysWhatIsLeft() async throws {
        let harness = try await BadInputTests.filled()
        let erased = try await harness.run("user", "erase", "alice", "--yes", "--json")
        #expect(erased.status == 0, "\(erased.error)")
        let remnants = try #require(try erased.json["remnants"] as? [String: Any])
        #expect(remnants["state"] as? String == "gone")
        #expect((remnants["processes"] as? [Any])?.isEmpty == true)
    }

    /// Somebody holds a snapshot with SQLite's own shell.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3"), "needs sqlite3"))
    func anErasureNamesWhoReadsTheVault() async throws {
        let harness = try await BadInputTests.filled()
        let result = try await Program(harness: harness).shell(
            """
            mkfifo "$dir/pipe"
            sqlite3 "$dir/app.vault" <"$dir/pipe" >"$dir/reader.out" &
            reader=$!
            exec 9>"$dir/pipe"
            printf 'BEGIN; SELECT count(*) FROM login;\\n' >&9
            while [ ! -s "$dir/reader.out" ]; do sleep 0.05; done
            "$vaultctl" user erase alice --yes --json
            status=$?
            echo "$reader $status" >"$dir/said"
            exec 9>&-
            wait "$reader"
            """)
        let said = try String(contentsOfFile: harness.path("said"), encoding: .utf8).split(
            whereSeparator: \.isWhitespace)
        #expect(said.last == "3", "\(result.error)")
        let remnants = try #require(try result.json["remnants"] as? [String: Any])
        #expect(remnants["state"] as? String == "held")
        #expect((remnants["processes"] as? [Int])?.map(String.init) == [String(said[0])])
        #expect(result.error.contains("process \(said[0]) still reads the vault as it was before"))
    }
}
