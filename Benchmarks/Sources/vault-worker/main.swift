import BenchProgram
import FoundationEssentials
import Glibc
import TokenVault

// The library's side of `Benchmarks/peers`, apart from vault-bench, whose memory is measured without an HTTP client.
//
//     vault-worker fill    VAULT KEY ISSUER CLIENT=PROFILE …          makes a vault of the logins on standard input
//     vault-worker serve   VAULT KEY LEAD-SECONDS [scheduler]         one process of a service: a user on each line
//     vault-worker commits VAULT KEY LOGINS COUNT SEED CALLERS        durable changes by many callers at a time

let arguments = CommandLine.arguments

@Sendable func misuse() -> Never {
    BenchProgram.stop("vault-worker", "see the comment in main.swift for the arguments")
}

@Sendable func run() async throws {
    guard arguments.count >= 5 else { misuse() }
    let (vault, key) = (arguments[2], arguments[3])
    switch arguments[1] {
    case "fill":
        let pairs = arguments[5...].map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let profiles = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        try await Filling(path: vault, key: key, issuer: arguments[4], profiles: profiles).run()
    case "serve":
        guard let lead = Double(arguments[4]) else { misuse() }
        let worker = try await Worker(vault: vault, key: key, lead: .seconds(lead))
        if arguments.last == "scheduler" { worker.schedule() }
        try await worker.serve()
    case "commits":
        let numbers = arguments[4...].compactMap { Int($0) }
        guard numbers.count == 4 else { misuse() }
        try await Commits(path: vault, key: key, logins: numbers[0])
            .run(count: numbers[1], seed: numbers[2], callers: numbers[3])
    default: misuse()
    }
}

BenchProgram.run("vault-worker", run)
