import ArgumentParser
import DevAuthorizationServer
import Foundation
import TestSupport
import Testing

@testable import dev_authserver

struct OptionTests {
    @Test func optionsReachTheConfiguration() throws {
        let options = try DevAuthServer.parse([
            "--client", "extra:post:s3:cret", "--no-refresh-tokens", "--access-token-lifetime=2.5", "--rotation",
            "never", "--grace", "30", "--nonce", "required", "--nonce-rotation", "5", "--auto-approve", "no",
            "--require-par", "--resource", "https://api.example/", "--reuse", "revoke-user", "--reply-delay", "0.2",
            "--behaviour", "extra:rotation=always,grace=2.5,reuse=refuse,nonce-check=last,access-token-lifetime=0.2",
            "--redirect-uri", "http://127.0.0.1/x", "--stop-after", "1", "--exit-with-stdin", "--ready-file", "/r",
        ])
        let configuration = try options.serverConfiguration
        #expect(configuration.accessTokenLifetime == .milliseconds(2500))
        #expect(configuration.refreshRotation == .never)
        #expect(configuration.graceWindow == .seconds(30))
        #expect(configuration.noncePolicy == .required(rotation: .seconds(5)))
        #expect(!configuration.approvesAutomatically)
        #expect(configuration.clients.map(\.id) == ["demo", "demo-basic", "demo-post", "extra"])
        #expect(configuration.clients.last?.authentication == .post(secret: "s3:cret"))
        #expect(configuration.clients.allSatisfy { !$0.receivesRefreshTokens })
        #expect(configuration.clients.allSatisfy { $0.redirectURIs.contains("http://127.0.0.1/x") })
        #expect(configuration.requiresPushedRequests)
        #expect(configuration.resources == ["https://api.example/"])
        #expect(configuration.reuseResponse == .revokeUser)
        #expect(configuration.behaviour == ClientBehaviour(replyDelay: .milliseconds(200)))
        let behaviour = ClientBehaviour(
            rotation: .always, graceWindow: .milliseconds(2500), reuse: .refuse, nonceCheck: .last,
            accessTokenLifetime: .milliseconds(200))
        #expect(configuration.clients.last?.behaviour == behaviour)
        #expect(options.running.stopAfter?.duration == .seconds(1))
        #expect(options.running.exitsWithStandardInput)
        #expect(options.running.readyFile == "/r")
    }

    @Test(arguments: [
        ["--prot", "1"], ["--port"], ["--port", "x"], ["--port", "65536"], ["--rotation", "sometimes"],
        ["--grace", "-1"], ["--grace", "nan"], ["stray"], ["--client", "a:b"], ["--issuer-path", "x/"],
        ["--issuer-path", "/x/"], ["--issuer", "not-a-url"], ["--redirect-uri", "app.example"],
        ["--resource", "notaurl"], ["--tls-port", "8443"], ["--nonce-rotation", "10"], ["--scopes", ""],
        ["--initial-access-token", ""],
        ["--behaviour", "nobody:grace=1"], ["--behaviour", "demo"], ["--behaviour", "demo:grace"],
        ["--behaviour", "demo:speed=1"], ["--behaviour", "demo:rotation=x"], ["--client", "a:jwt:{}"],
        ["--client", "a:jwt:@/nowhere"], ["--trusted-issuer", "name"], ["--access-token-length", "21"],
    ])
    func wrongOptionsAreUsageErrors(arguments: [String]) {
        do {
            _ = try DevAuthServer.parse(arguments)
            Issue.record("taken")
        } catch {
            #expect(DevAuthServer.exitCode(for: error) == .validationFailure)
        }
    }

    @Test func keyOfAClientComesFromTheLineOrAFile() throws {
        let jwk = try String(decoding: JSON.encode(TestKey().jwk), as: UTF8.self)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(jwk.utf8).write(to: file)
        let key = try #require(RegisteredKey(jwk: jwk))
        for text in [jwk, "@" + file.path] {
            let client = try #require(
                try DevAuthServer.parse(["--client", "a:jwt:" + text]).serverConfiguration.clients.last)
            #expect((client.id, client.authentication) == ("a", .privateKeyJWT(key)))
        }
    }

    @Test func defaultsAreThoseOfTheServer() throws {
        let (options, server) = (try DevAuthServer.parse([]).serverConfiguration, AuthorizationServerConfiguration())
        #expect(options.accessTokenLifetime == server.accessTokenLifetime)
        #expect(options.refreshTokenLifetime == server.refreshTokenLifetime)
        #expect(options.graceWindow == server.graceWindow)
        #expect(options.scopes == server.scopes)
        #expect(options.noncePolicy == server.noncePolicy)
        #expect(options.behaviour == server.behaviour)
        #expect(options.clients.map(\.id) == server.clients.map(\.id))
        #expect(options.clients.allSatisfy { $0.receivesRefreshTokens && !$0.requiresDPoP })
        #expect((options.issuer, options.issuerPath, options.port) == (server.issuer, server.issuerPath, server.port))
    }

    @Test func helpNamesEveryOptionOnNarrowLines() {
        let help = DevAuthServer.helpMessage(columns: 100)
        let names = """
            port issuer issuer-path client redirect-uri resource trusted-issuer require-par scopes auto-approve default-user
            access-token-lifetime refresh-token-lifetime pushed-request-lifetime code-lifetime rotation grace reuse delay
            reply-delay behaviour one-access-token no-refresh-tokens no-expires-in access-token-length id-token-alg
            secret-marker require-dpop nonce nonce-rotation nonce-check ready-file stop-after exit-with-stdin help
            """
        for name in names.split(whereSeparator: \.isWhitespace) { #expect(help.contains("--\(name)")) }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}

/// The program itself, as scripts run it.
struct ExecutableTests {
    private struct Running {
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        let errors = Pipe()

        init(_ arguments: [String]) throws {
            let program = try #require(BuiltProgram.url("dev-authserver"))
            process.executableURL = program
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            process.standardError = errors
            try process.run()
        }

        func firstLine() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

        func end() -> (code: Int32, output: String, errors: String) {
            let rest = output.fileHandleForReading.readDataToEndOfFile()
            let complaints = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (
                process.exitCode, String(decoding: rest, as: UTF8.self), String(decoding: complaints, as: UTF8.self)
            )
        }
    }

    @Test(arguments: ["SIGTERM", "SIGINT", "stdin", "timer"])
    func servesAndStops(cause: String) async throws {
        let ready = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: ready) }
        var arguments = ["--ready-file", ready.path]
        if cause == "stdin" { arguments.append("--exit-with-stdin") }
        if cause == "timer" { arguments += ["--stop-after", "1"] }
        let running = try Running(arguments)
        let line = running.firstLine()
        #expect(line.wholeMatch(of: /listening on http:\/\/127\.0\.0\.1:\d+\n/) != nil)
        #expect(try String(contentsOf: ready, encoding: .utf8) == line)
        let base = line.dropFirst("listening on ".count).dropLast()
        #expect(try await Wire.get(base + "/.well-known/oauth-authorization-server").status == 200)
        switch cause {
        case "SIGTERM": running.process.terminate()
        case "SIGINT": running.process.interrupt()
        case "stdin": try running.input.fileHandleForWriting.close()
        default: break
        }
        let end = running.end()
        #expect(end == (0, "", ""))
    }

    @Test func usageErrorsExitWith64() throws {
        let end = try Running(["--prot", "1"]).end()
        #expect(end.code == 64)
        #expect(end.output.isEmpty)
        #expect(end.errors.hasPrefix("Error: Unknown option '--prot'. Did you mean '--port'?\n"))
    }

    @Test func helpGoesToStandardOutput() throws {
        let end = try Running(["--help"]).end()
        #expect(end.code == 0)
        #expect(end.output.hasPrefix("OVERVIEW: "))
        #expect(end.errors.isEmpty)
    }

    @Test func takenPortIsReportedInOneLine() async throws {
        try await withServer { server in
            let end = try Running(["--port", String(server.port)]).end()
            #expect(end.code == 1)
            #expect(end.errors.hasPrefix("dev-authserver: error: "))
            #expect(end.errors.split(separator: "\n").count == 1)
            #expect(end.errors.contains("port \(server.port) is in use"))
        }
    }

    @Test func aReadyFileThatCannotBeWrittenIsNamed() throws {
        let end = try Running(["--ready-file", "/nonexistent/ready"]).end()
        #expect(end.code == 1)
        #expect(end.errors.contains("/nonexistent/ready (--ready-file)"))
        #expect(end.errors.split(separator: "\n").count == 1)
    }
}
