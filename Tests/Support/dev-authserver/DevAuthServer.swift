import ArgumentParser
import DevAuthorizationServer
import FoundationEssentials
import Glibc

@main
struct DevAuthServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev-authserver",
        abstract: "An OAuth 2.0 authorization server for tests, on this machine only.",
        discussion: """
            Prints "listening on http://127.0.0.1:PORT" when it is ready, and serves until SIGTERM or SIGINT. Any user \
            can sign in without a password. Nothing outlives the process.

            These clients are always registered:
              demo         public
              demo-basic   secret demo-basic-secret, client_secret_basic
              demo-post    secret demo-post-secret, client_secret_post
            Their redirect URIs are http://127.0.0.1/callback and http://[::1]/callback on any port, and \
            https://app.example/callback.

            Discovery: /.well-known/oauth-authorization-server
            Control (log, faults, clock, grants): GET /dev lists the endpoints.
            """)

    @OptionGroup(title: "Address") var address: AddressOptions
    @OptionGroup(title: "Clients and users") var registration: RegistrationOptions
    @OptionGroup(title: "Protected resource") var protectedResource: ResourceOptions
    @OptionGroup(title: "Tokens") var tokens: TokenOptions
    @OptionGroup(title: "DPoP") var dpop: DPoPOptions
    @OptionGroup(title: "Starting and stopping") var running: RunningOptions

    func validate() throws { _ = try serverConfiguration }

    /// What the options ask for, together.
    var serverConfiguration: AuthorizationServerConfiguration {
        get throws {
            var configuration = AuthorizationServerConfiguration()
            try address.apply(to: &configuration)
            registration.apply(to: &configuration)
            protectedResource.apply(to: &configuration)
            try tokens.apply(to: &configuration)
            dpop.apply(to: &configuration)
            return configuration
        }
    }

    func run() async throws {
        do {
            let stops = await StopSignal.listen(running)
            let server = try await start()
            let line =
                "listening on http://127.0.0.1:\(server.port)"
                + (server.secureBase.map { " and \($0)" } ?? "") + "\n"
            if let path = running.readyFile {
                do { try Data(line.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
                    await server.shutDown()
                    throw Refusal(description: "the ready line cannot be written to \(path) (--ready-file)")
                }
            }
            Self.write(line, to: STDOUT_FILENO)
            for await _ in stops { break }
            await server.shutDown()
        } catch {
            Self.write("dev-authserver: error: cannot serve: \(error)\n", to: STDERR_FILENO)
            throw ExitCode.failure
        }
    }

    private struct Refusal: Error, CustomStringConvertible { let description: String }

    private func start() async throws -> DevAuthorizationServer {
        do { return try await DevAuthorizationServer.start(serverConfiguration) } catch {
            // NIO does not name the port.
            guard "\(error)".contains("errno: \(EADDRINUSE)") else { throw error }
            let ports = [address.port, address.tlsPort].filter { $0 != 0 }.map(String.init)
            throw Refusal(description: "port \(ports.joined(separator: " or ")) is in use: another program has it")
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
