import OAuthClient
import Testing
import TokenVaultHTTP

/// What servers that send much cost: memory and bytes read, measured in a process that does nothing else.
struct HostileMemoryTests {
    /// For each case, on top of what the same transport used before.
    private static let mostGrowth = 4 << 20
    /// A body of 256 KiB, a head of 32 KiB, and one turn of the event loop, in which a connection is read four times.
    private static let mostRead = (256 + 32 + 4 * 64) << 10

    @Test func noFloodGrowsTheProcess() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let floods = HostileCase.all.filter { !$0.isSlow && $0.sendsMuch }
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
        result.printLines(of: "hostile memory")
    }

    /// Counted by the kernel in reads of this process. The server receives by another call, which is not counted.
    @Test func noCaseIsReadFurtherThanItMustBe() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let cases = HostileCase.all.filter { !$0.isSlow }
            let transport = AsyncHTTPTransport(options: .loopback)
            var most = (bytes: 0, name: "")
            for one in cases {
                let before = ReadBytes.current
                _ = try await HostileRun(one, through: transport)
                guard let before, let after = ReadBytes.current else { continue }
                if after - before > most.bytes { most = (after - before, one.name) }
                #expect(after - before <= Self.mostRead, "\(one.name): \(after - before) bytes")
            }
            print("hostile bytes: \(cases.count) cases, the most was read of \"\(most.name)\": \(most.bytes) bytes")
            await transport.shutdown()
        }
        result.printLines(of: "hostile bytes")
    }
}

extension ExitTest.Result? {
    fileprivate func printLines(of name: String) {
        let output = String(decoding: self?.standardOutputContent ?? [], as: UTF8.self)
        for line in output.split(separator: "\n") where line.hasPrefix(name) { print(line) }
    }
}

extension HostileCase {
    fileprivate var sendsMuch: Bool {
        scripts.joined().contains { step in
            switch step {
            case .flood: true
            case .write(let bytes): bytes.count > 50_000
            default: false
            }
        }
    }
}
