import Foundation
import Testing

/// `import run --final`, which waits for a minute between two readings.
@Suite struct ImportFinalTests {
    private static func append(_ line: String, to source: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: source))
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
        try file.close()
    }

    @Test func aSourceAtRestIsSeenToRestAndAccepted() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("app.jsonl", ImportBench.line("ann", subject: "s", refresh: "R"))
            #expect(try await bench.run(source, "--name", "app") == ["added": 1])
            let early = try await bench.harness.run("import", "accept", "app")
            #expect(early.status != 0)
            let final = try await bench.harness.run("import", "run", source, "--name", "app", "--final")
            #expect(final.status == 0, "\(final.error)")
            #expect(final.error.contains("nothing has changed; reading it again in 60 s"), "\(final.error)")
            try await bench.ok(["import", "accept", "app"])
        }
    }

    @Test func aSourceThatGoesOnRenewingIsNotAccepted() async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("app.jsonl", ImportBench.line("ann", subject: "s", refresh: "R"))
            async let final = bench.harness.run("import", "run", source, "--name", "app", "--final", "--json")
            while try await bench.allLogins().isEmpty { try await Task.sleep(for: .milliseconds(100)) }
            // The first reading has taken what was there; the second finds this.
            try Self.append(ImportBench.line("ben", subject: "t", refresh: "S"), to: source)
            let result = try await final
            #expect(result.status == 3, "\(result.error)")
            #expect(result.error.contains("the source still renews: 1 login changed between two readings"))
            #expect(try await bench.logins().keys.sorted() == ["ann", "ben"])
            #expect(try await bench.harness.run("import", "accept", "app").status != 0)
        }
    }

    @Test(arguments: [["--final", "--take"], ["--final", "--dry-run"], ["--final", "--pause", "59s"]])
    func whatContradictsItIsRefused(_ options: [String]) async throws {
        try await ImportBench.with { bench in
            let source = try bench.file("app.jsonl", ImportBench.line("ann", subject: "s", refresh: "R"))
            let refused = try await bench.harness.run(["import", "run", source] + options)
            #expect(refused.status == 1 && refused.error.contains("--final cannot") != options.contains("59s"))
            #expect(try await bench.allLogins().isEmpty)
        }
    }
}
