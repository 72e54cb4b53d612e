import OAuthClient
import Testing
import TokenVaultHTTP

/// What the servers that send the most leave in memory, measured in a process that does nothing else.
@Suite(.timeLimit(.minutes(10)))
struct HostileMemoryTests {
    /// For each case, on top of what the same transport used before.
    private static let mostGrowth = 4 << 20

    @Test func noFloodGrowsTheProcess() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let floods = HostileCase.all.filter { one in
                !one.isSlow
                    && one.scripts.joined().contains { step in
                        switch step {
                        case .flood: true
                        case .write(let bytes): bytes.count > 50_000
                        default: false
                        }
                    }
            }
            let transport = AsyncHTTPTransport(options: .loopback)
            // Threads, arenas and buffers that any request needs, and those of the servers, which live here too.
            for one in floods where !one.name.contains("for ever") {
                _ = try await HostileRun(one, through: transport)
            }
            var most = 0
            for one in floods {
                let before = ResidentMemory.current
                let run = try await HostileRun(one, through: transport)
                let growth = ResidentMemory.current - before
                most = max(most, growth)
                #expect(one.expected.contains(run.outcome))
                #expect(growth <= Self.mostGrowth, "\(one.name): \(growth) bytes")
            }
            print("hostile memory: \(floods.count) floods, the most grew the process by \(most / 1_024) KiB")
            await transport.shutdown()
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        for line in output.split(separator: "\n") where line.hasPrefix("hostile memory") { print(line) }
    }
}
