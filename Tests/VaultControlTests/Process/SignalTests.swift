import DevAuthorizationServer
import Foundation
import Glibc
import TestSupport
import Testing

@testable import VaultControl

/// Signals as `timeout`, terminals and wrappers send them.
struct SignalTests {
    @Test func aSecondSignalCountsOnlyAfterASecond() {
        let start = ContinuousClock.now
        var history = SignalHistory()
        #expect(history.take(SIGINT, at: start) == .stop)
        #expect(history.take(SIGTERM, at: start) == .echo)
        #expect(history.take(SIGINT, at: start + .milliseconds(999)) == .echo)
        #expect(history.first?.number == SIGINT)
        #expect(history.take(SIGINT, at: start + .seconds(1)) == .stopNow)
    }

    /// The program as a process, from its start to the moment at which a test wants to do something to it.
    private func start(_ world: World, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Program.path))
        process.arguments = arguments
        process.environment = world.harness.environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = world.harness.path("errors")
        #expect(FileManager.default.createFile(atPath: errors, contents: nil))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.run()
        return process
    }

    private func errors(_ world: World) -> String {
        (try? String(contentsOfFile: world.harness.path("errors"), encoding: .utf8)) ?? ""
    }

    private func end(of process: Process) async -> Int32 {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(20)) }
        return process.exitCode
    }

    /// The next refresh token is spent at once, and the reply comes when the delays are ended.
    private func hold(_ world: World) {
        world.server.faults.add(.delay(.seconds(86_400), afterActing: true))
    }

    /// `timeout` signals its child and then the group; so does `docker run -t` with an init that forwards.
    @Test func twoSignalsInARowLetARenewalFinish() async throws {
        try await World.with { world in
            try await world.logIn("alice")
            for round in 1...20 {
                hold(world)
                let before = world.refreshes
                let process = try start(world, ["login", "refresh", "--user", "alice"])
                // The server has spent the refresh token, and its reply is not there yet.
                while world.refreshes == before, process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
                try #require(world.refreshes > before, "round \(round): \(errors(world))")
                kill(process.processIdentifier, SIGTERM)
                // No sleep of a task: on a busy machine it might end only after the second that makes it two requests.
                usleep(UInt32(round) * 1_000)
                kill(process.processIdentifier, round.isMultiple(of: 2) ? SIGTERM : SIGINT)
                try await eventually { errors(world).contains("again to stop at once") }
                world.server.faults.endDelays()
                // Which of two different signals is noticed first is not certain.
                #expect([128 + SIGTERM, 128 + SIGINT].contains(await end(of: process)))
                let shown = try await world.ok("login", "show", "--user", "alice", "--json").json
                #expect(shown["renewal"] is NSNull, "round \(round)")
            }
            #expect(try await world.ok("token", "get", "--user", "alice", "--json").json["generation"] as? Int == 21)
            print("signals: 20 renewals interrupted twice, all stored")
        }
    }

    @Test func theDocumentHasTheExitCodeOfASignal() async throws {
        try await World.with { world in
            let script = """
                for signal in TERM HUP; do
                  "$vaultctl" login device --user alice --provider acme --json >"$dir/out-$signal" 2>"$dir/err-$signal" &
                  until [ -s "$dir/err-$signal" ]; do sleep 0.1; done
                  kill -$signal $!
                  wait $!
                  echo "$signal $? $(cat "$dir/out-$signal")"
                done
                """
            let result = try await Program(harness: world.harness).shell(script)
            let document = #"{"error":{"code":"interrupted","message":"interrupted","hints":[],"exitCode":"#
            #expect(result.output == "TERM 143 \(document)143}}\nHUP 129 \(document)129}}\n", "\(result.error)")
        }
    }

    /// A crash report shows registers and memory, and with a terminal it offers a debugger.
    @Test func crashSignalsEndTheProgramWithoutAWord() async throws {
        let harness = try Harness()
        let script = """
            mkfifo "$dir/pipe"
            for signal in QUIT ABRT SEGV BUS ILL FPE TRAP; do
              "$vaultctl" init --passphrase - <"$dir/pipe" >/dev/null 2>"$dir/err" &
              exec 4>"$dir/pipe"
              # It has begun once it listens to signals of its own.
              until [ "$((0x$(awk '/^SigCgt/ { print $2 }' /proc/$!/status) >> 14 & 1))" = 1 ]; do sleep 0.1; done
              kill -$signal $!
              wait $!
              echo "$signal $? $(wc -c <"$dir/err")"
              exec 4>&-
            done
            """
        let result = try await Program(harness: harness).shell(script)
        #expect(
            result.output == """
                QUIT 131 0
                ABRT 134 0
                SEGV 139 0
                BUS 135 0
                ILL 132 0
                FPE 136 0
                TRAP 133 0

                """)
    }

    /// Who sets a deadline hears when it is over, and not when the process is.
    @Test func aDeadlineIsToldWhenItIsOver() async throws {
        try await World.with { world in
            try await world.logInExpired("alice")
            hold(world)
            let process = try start(world, ["token", "get", "--user", "alice", "--deadline", "1s"])
            while !errors(world).contains("the renewal continues"), process.isRunning {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(process.isRunning)
            #expect(errors(world).contains("vaultctl: error: the renewal took longer than the caller wanted to wait"))
            world.server.faults.endDelays()
            #expect(await end(of: process) == 9)
            #expect(try await world.ok("status", "--json").json["openRenewals"] as? Int == 0)
        }
    }

    @Test func aTokenThatIsValidForLessThanAskedForIsToldAsSuch() async throws {
        try await World.with({ $0.accessTokenLifetime = .seconds(300) }) { world in
            try await world.logIn("alice")
            let result = try await world.harness.run("token", "get", "--user", "alice", "--min-validity", "2h")
            #expect(result.status == 3)
            #expect(result.output.contains("expires"))
            #expect(result.error.contains("vaultctl: warning: the token is valid for"))
            #expect(result.error.contains("not for the 2 h requested"))
            try await world.ok("token", "get", "--user", "alice", "--min-validity", "2m")
            let revealed = try await world.harness.run(
                "token", "get", "--user", "alice", "--min-validity", "2h", "--reveal", revealing: true)
            #expect(revealed.status == 3)
            #expect(revealed.output.hasPrefix("at_" + Harness.marker))
        }
    }
}
