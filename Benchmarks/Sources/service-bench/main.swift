import AsyncHTTPClient
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
//     service-bench renew  VAULT KEY PORT COUNT      makes a vault, and prints nanoseconds of CPU for each renewal, and for
//                                                    each request that AsyncHTTPClient alone sends to the same endpoint

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
    var logins: [LoginID] = []
    for try await entry in service.vault.logins(where: LoginFilter()) where logins.count < 100 {
        logins.append(entry.id)
    }
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
    let renewal = try await processorTime(of: count) { _ = try await service.users.updateAccessToken(userId: user) }
    run.cancel()
    _ = await run.result
    let plain = try await PlainClient(port: port)
    let request = try await processorTime(of: count) { try await plain.request() }
    try await plain.end()
    print("\(renewal / .nanoseconds(1)) \(request / .nanoseconds(1))")
}

/// For each time that `work` is done, after it was done a few times.
@Sendable func processorTime(of count: Int, _ work: () async throws -> Void) async throws -> Duration {
    for _ in 0..<20 { try await work() }
    let before = processorTime()
    for _ in 0..<count { try await work() }
    return (processorTime() - before) / count
}

/// AsyncHTTPClient as anybody would use it to renew a token, with a connection for each request as ours has it: a request
/// that meets the end of an idle connection may have spent its refresh token.
struct PlainClient {
    let client: HTTPClient
    let request: HTTPClientRequest

    init(port: Int) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.maximumUsesPerConnection = 1
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/token")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        let token = String(repeating: "x", count: 100)
        request.body = .bytes(.init(string: "grant_type=refresh_token&refresh_token=\(token)&client_id=bench"))
        self.request = request
    }

    func request() async throws {
        let reply = try await client.execute(request, timeout: .seconds(30))
        guard reply.status == .ok, try await reply.body.collect(upTo: 1 << 20).readableBytes > 1_000 else { exit(70) }
    }

    func end() async throws { try await client.shutdown() }
}

BenchProgram.run("service-bench") {
    switch arguments[1] {
    case "memory": try await idle()
    case "renew": try await renew(arguments.count > 5 ? Int(arguments[5]) ?? 1 : 1)
    default: exit(64)
    }
}
