import EngineSupport
import Foundation
import TestSupport
import Testing

/// A wall clock that is not the one by which the kernel ends waits: as after it was an hour ahead and was set right while
/// the program ran.
@Suite(.tags(.everyEngine))
struct ClockAheadTests {
    private static let shim = """
        #define _GNU_SOURCE
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            long result = syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += 3600;
            return (int)result;
        }
        """

    /// Others see it alive by its heartbeat, and its renewals depend on that.
    @Test(.enabled(if: TestEngine.isServer, "a vault in a file has no heartbeat"))
    func theHeartbeatGoesOn() async throws {
        let harness = try Harness()
        try harness.file("clock.c", Self.shim)
        let intruder = try TableIntruder(harness.vault)
        let script = """
            gcc -shared -fPIC -o "$dir/clock.so" "$dir/clock.c" || exit 90
            "$vaultctl" init >/dev/null || exit 91
            LD_PRELOAD="$dir/clock.so" "$vaultctl" maintain >/dev/null & echo $! >"$dir/pid"
            """
        let started = try await Program(harness: harness).shell(script)
        try #require(started.status == 0, "\(started.error)")
        let process = try #require(pid_t(String(contentsOfFile: harness.path("pid"), encoding: .utf8).dropLast()))
        defer { kill(process, SIGKILL) }
        let beats = #"SELECT count(*)::text FROM "process" WHERE "lastSeenAt" > "startedAt" + interval '3 seconds'"#
        for _ in 0..<6_000 {
            if try intruder.text(beats) == "1" { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("the process has given no sign of life")
    }
}
