import BenchProgram
import FoundationEssentials
import Glibc
import HTTPTypes
import OAuthClient
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

// A service as people run it, with AsyncHTTPClient and a scheduler. PORT is that of a token endpoint on this machine that
// answers at once; `Benchmarks/run` starts it.
//
//     service-bench memory VAULT KEY PORT            prints the resident memory and its peak, in KiB, of a service that idles
//     service-bench renew  VAULT KEY PORT COUNT      makes a vault, and prints nanoseconds of CPU for each renewal

let arguments = CommandLine.arguments
guard arguments.count >= 5, let port = Int(arguments[4]) else {
    BenchProgram.stop("service-bench", "see the comment in main.swift for the arguments")
}

@Sendable func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

@Sendable func memory(_ name: String) -> Int { BenchProgram.number(name, of: "status") }

@Sendable func transport() -> AsyncHTTPTransport { AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true)) }

@Sendable func idle() async throws {
    let client = transport()
    let service = try await VaultService(at: arguments[2], unlockedBy: .keyFile(arguments[3]), transport: client)
    let run = Task { try await service.run() }
    let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/token")
    for _ in 0..<10 { _ = try await client.send(request, body: [], limits: .tokenEndpoint) }
    let logins = try await service.vault.logins(limit: 100).map(\.id)
    for _ in 0..<20 {
        for login in logins { _ = try await service.users.validAccessToken(for: .login(login)) }
    }
    try await Task.sleep(for: .seconds(3))
    print("\(memory("VmRSS")) \(memory("VmHWM"))")
    run.cancel()
    _ = await run.result
}

@Sendable func renew(_ count: Int) async throws {
    try KeyFiles.generate(at: arguments[3])
    let made = try await Vault.create(at: arguments[2], unlockedBy: .keyFile(arguments[3]))
    try await made.addProvider(
        ProviderRegistration(
            name: "acme", tokenEndpoint: EndpointURL("http://127.0.0.1:\(port)/token", allowsInsecureLoopback: true),
            clientID: ClientID("bench")))
    await made.close()
    let service = try await VaultService(at: arguments[2], unlockedBy: .keyFile(arguments[3]), transport: transport())
    let run = Task { try await service.run() }
    let user = "user"
    _ = try await service.users.addLogin(
        userId: user, provider: "acme", accessToken: AccessToken("first"), expiresAt: Date().addingTimeInterval(86_400),
        refreshToken: RefreshToken("first"))
    for _ in 0..<20 { _ = try await service.users.updateAccessToken(userId: user) }
    let before = processorTime()
    for _ in 0..<count { _ = try await service.users.updateAccessToken(userId: user) }
    let spent = processorTime() - before
    print("\(spent / .nanoseconds(1) / Double(count)) \(count)")
    run.cancel()
    _ = await run.result
}

BenchProgram.run("service-bench") {
    switch arguments[1] {
    case "memory": try await idle()
    case "renew": try await renew(arguments.count > 5 ? Int(arguments[5]) ?? 1 : 1)
    default: exit(64)
    }
}
