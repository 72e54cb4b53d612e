import EngineSupport
import Foundation
import Testing
import VaultControl

/// The program as shells and scripts meet it.
struct ProgramTests {
    @Test func aReaderThatGoesAwayIsNoCrash() async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            for i in 1 2 3 4 5 6 7 8; do
              printf CANARY-x | "$vaultctl" login add --user user$i --access-token - --quiet >"$dir/id"
            done
            { "$vaultctl" user list --json; echo "$?" >"$dir/status"; } | head -c 1 >/dev/null
            cat "$dir/status"
            "$vaultctl" status >&-; echo "$?"
            "$vaultctl" --help | true
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output.hasPrefix("0\n"), "\(result.output) \(result.error)")
        #expect(!result.error.lowercased().contains("fatal"))
        #expect(!result.error.lowercased().contains("broken pipe"))
    }

    /// What is opened next would get the number of a stream that is closed.
    @Test func streamsAndDescriptorsThatAreNotOpenAreNamed() async throws {
        let harness = try await BadInputTests.filled()
        for (command, status, words) in [
            ("status --key - <&-", 7, "standard input is closed"),
            ("status --passphrase - <&-", 7, "standard input is closed"),
            ("status >&-", 10, "standard output is closed"),
            ("status --key-fd 9 9<&-", 7, "file descriptor 9 is not open (--key-fd)"),
            ("status --key-fd=0 <&-", 7, "file descriptor 0 is not open (--key-fd)"),
            ("key add --new-passphrase-fd 3 3>\"$dir/x\"", 1, "file descriptor 3 is open for writing alone"),
            ("status --key-fd 3 3<\"$TOKENVAULT_KEY_FILE\"", 0, ""),
        ] as [(String, Int32, String)] {
            let result = try await Program(harness: harness).shell("\"$vaultctl\" \(command)")
            #expect(result.status == status, "\(command): \(result.error)")
            #expect(words.isEmpty || result.error.contains(words), "\(command): \(result.error)")
        }
    }

    @Test func aFullOutputIsToldAsSuch() async throws {
        let harness = try await BadInputTests.filled()
        let result = try await Program(harness: harness).shell("\"$vaultctl\" user list >/dev/full")
        #expect(result.status == 10)
        #expect(result.error.contains("the disk is full"))
    }

    /// Otherwise it would read as if nothing had been done.
    @Test(arguments: [
        ("key add --new-key-file \"$dir/two.key\"", "key slot added ("), ("user disable alice --yes", "user disabled"),
        ("provider add p --client-id c --token-endpoint https://a.example/t -q", "provider added (p)"),
    ])
    func whatWasDoneIsSaidWithoutOutput(_ command: String, _ deed: String) async throws {
        let harness = try await BadInputTests.filled()
        let result = try await Program(harness: harness).shell("\"$vaultctl\" \(command) >/dev/full")
        #expect(result.status == 10)
        #expect(result.error.contains("hint: these changes were made: "), "\(result.error)")
        #expect(result.error.contains(deed) && result.error.contains("see: vaultctl audit list"), "\(result.error)")
    }

    /// An empty file in the place of libpq, which cannot be loaded.
    @Test(.aboutFiles("a vault on a server needs libpq")) func onlyAServerNeedsLibpq() async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            mkdir "$dir/libraries" && : >"$dir/libraries/libpq.so.5"
            export LD_LIBRARY_PATH="$dir/libraries"
            "$vaultctl" status --vault postgresql://vault@localhost/app; echo "$?"
            "$vaultctl" user list >/dev/null; echo "$?"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "10\n0\n", "\(result.output) \(result.error)")
        #expect(result.error.contains("a vault on a server needs libpq") && result.error.contains("hint: install it"))
    }

    @Test func exitCodesReachTheShell() async throws {
        let harness = try await BadInputTests.filled()
        for (command, status) in [
            ("status", 0), ("--nonsense", 1), ("user show nobody", 2), ("status --key-file /no/such/key", 7),
            ("token get --user alice", 0), ("--help", 0), ("", 0),
        ] as [(String, Int32)] {
            let result = try await Program(harness: harness).shell("\"$vaultctl\" \(command) >/dev/null")
            #expect(result.status == status, "\(command): \(result.error)")
        }
    }

    /// As text both would be the same user.
    @Test func argumentsThatAreNotUTF8AreRefused() async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            for id in "$(printf '\\377')" "$(printf 'caf\\351')" "$(printf 'a\\300\\257')"; do
              printf CANARY-x | "$vaultctl" login add --user "$id" --access-token -; echo "$?"
            done
            "$vaultctl" user list --json "$(printf '\\376')"; echo "$?"
            printf CANARY-x | "$vaultctl" login add --user "$(printf '\\357\\277\\275')" --access-token - >/dev/null; echo "$?"
            """
        let result = try await Program(harness: harness).shell(script)
        let document =
            #"{"error":{"code":"usage","message":"argument 4 is not valid UTF-8","#
            + #""hints":["ids and names are UTF-8: use a UTF-8 terminal"],"exitCode":1}}"#
        #expect(result.output == "1\n1\n1\n\(document)\n1\n0\n", "\(result.output) \(result.error)")
        #expect(result.error.contains("argument 4 is not valid UTF-8"), "\(result.error)")
        #expect(result.error.contains("hint: "))
    }

    /// 100 MB of address space are enough to start, and not enough for threads: that is told, and not waited out.
    @Test func withoutThreadsThereIsAnErrorAndNoWaiting() async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            ( ulimit -s 60000; ulimit -v 300000; timeout 60 "$vaultctl" status >/dev/null; echo "$?" )
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "10\n", "\(result.output) \(result.error)")
        #expect(result.error.contains("does not let this program start threads"), "\(result.error)")
    }

    private static let limits: [(String, String, String, String)] = {
        let files = ("-n 12", "user list", "too many files open", "ulimit -n")
        let size = (
            "-f 1", "login add --user bob --access-token-file t", "larger than this process may make a file",
            "ulimit -f"
        )
        // What a server's files may grow to is no matter of this process.
        return TestEngine.isServer ? [files] : [files, size]
    }()

    /// A limit of the process is no fault of the vault, and no reason to die without a word.
    @Test(arguments: limits)
    func limitsAreNamed(_ limit: String, _ command: String, _ message: String, _ hint: String) async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            cd "$dir"; umask 077; printf CANARY-x >t
            ( ulimit \(limit); "$vaultctl" \(command); echo "$?" )
            "$vaultctl" verify >/dev/null; echo "$?"
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "10\n0\n", "\(result.output) \(result.error)")
        #expect(result.error.contains(message), "\(result.error)")
        #expect(result.error.contains("hint: raise its limit: \(hint)"), "\(result.error)")
    }

    @Test(arguments: ["000", "077", "777"])
    func theUmaskNeverMatters(_ mask: String) async throws {
        let harness = try Harness()
        let script = """
            umask \(mask)
            "$vaultctl" init >/dev/null || exit
            printf 'CANARY-token' | "$vaultctl" login add --user alice --access-token - >/dev/null || exit
            stat -c '%a' "$dir"/app.key "$dir"/app.vault* | sort -u
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.output == "600\n", "\(result.error)")
    }

    /// What other tests have open is inherited now and then: a number that must not be open is closed.
    @Test func secretsArriveByFileDescriptor() async throws {
        let harness = try await BadInputTests.filled()
        let script = """
            printf 'CANARY-fresh' >"$dir/fresh"
            "$vaultctl" token update --user alice --access-token-fd 3 --expires-in 1h 3<"$dir/fresh" >/dev/null || exit
            test "$("$vaultctl" token get --user alice --reveal)" = CANARY-fresh || exit 90
            "$vaultctl" token update --user alice --access-token-fd 9 9<&-
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 1)
        #expect(result.error.contains("file descriptor 9 is not open"))
    }

    @Test func aServerWithAnotherNameInItsCertificateIsRefused() async throws {
        let harness = try Harness()
        let script = """
            cd "$dir"
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=other.example \\
              -addext subjectAltName=DNS:other.example -keyout tls.key -out tls.pem 2>/dev/null
            # Without something to read that never ends, s_server gives up in the middle of a handshake.
            mkfifo input
            exec 9<>input
            openssl s_server -accept 127.0.0.1:0 -cert tls.pem -key tls.key >server 2>&1 <input &
            until grep -q '^ACCEPT' server; do sleep 0.05; done
            port=$(sed -n 's/^ACCEPT.*:\\([0-9]*\\).*/\\1/p' server | head -n 1)
            "$vaultctl" init >/dev/null
            "$vaultctl" provider add acme --client-id x --issuer "https://localhost:$port" --ca-file tls.pem
            status=$?
            kill $!
            exit $status
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(result.status == 9, "\(result.error)")
        #expect(result.error.contains("the TLS handshake failed, nothing was sent"), "\(result.error)")
        #expect(try await harness.run("provider", "list").output.isEmpty)
    }

    @Test func noSecretIsInTheVaultsFiles() async throws {
        let harness = try await BadInputTests.filled()
        for name in try FileManager.default.contentsOfDirectory(atPath: harness.directory) where name.hasPrefix("app.")
        {
            let content = try Data(contentsOf: URL(filePath: harness.path(name)))
            #expect(content.range(of: Data(Harness.marker.utf8)) == nil, "\(name)")
            #expect(content.range(of: Data("alice".utf8)) == nil, "\(name)")
        }
    }

    @Test func otherProcessesCannotLookInside() async throws {
        let harness = try Harness()
        // The program waits for its passphrase while it is looked at. As root, everybody's memory is root's: then it runs as
        // somebody else, if such a one may run it at all.
        let script = """
            as=
            if [ "$(id -u)" = 0 ]; then
              as="setpriv --reuid=65534 --clear-groups"
              chown 65534 "$dir"
              $as "$vaultctl" --version >/dev/null 2>&1 || { echo skipped; exit 0; }
            fi
            mkfifo -m 666 "$dir/pipe"
            $as "$vaultctl" init --passphrase - <"$dir/pipe" >/dev/null 2>&1 &
            exec 4>"$dir/pipe"
            # It has begun once it listens to signals of its own, however long it took to load.
            until [ "$((0x$(awk '/^SigCgt/ { print $2 }' /proc/$!/status) >> 14 & 1))" = 1 ]; do sleep 0.2; done
            stat -c '%u' /proc/$!/mem
            grep 'Max core file size' /proc/$!/limits | awk '{ print $5, $6 }'
            kill $!; wait $!; echo "$?"
            """
        let result = try await Program(harness: harness).shell(script)
        guard result.output != "skipped\n" else { return }
        #expect(result.output == "0\n0 0\n143\n", "\(result.error)")
    }
}
