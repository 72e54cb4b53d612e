import DevAuthorizationServer
import Foundation
import Testing

@testable import VaultControl

/// `vaultctl login device`, with a person who approves.
struct LoginDeviceTests {
    private static let command = ["login", "device", "--user", "alice", "--provider", "acme"]

    private func device(_ world: World, _ options: String...) throws -> PseudoTerminal {
        try PseudoTerminal(Self.command + options, environment: world.harness.environment)
    }

    private func userCode(_ terminal: PseudoTerminal) async throws -> String {
        try await terminal.wait(for: "Waiting for the user's approval")
        let lines = terminal.screen.split(whereSeparator: \.isNewline)
        return String(try #require(lines.first { $0.wholeMatch(of: /[B-Z]{4}-[B-Z]{4}/) != nil }))
    }

    @Test func theUserApprovesAndTheLoginIsThere() async throws {
        try await World.with({ $0.devicePollInterval = .seconds(1) }) { world in
            let terminal = try device(world)
            let code = try await userCode(terminal)
            #expect(terminal.screen.contains(world.server.base + "/device"))
            #expect(terminal.screen.contains("user_code=\(code)"))
            #expect(world.server.decideDevice(userCode: code, user: "alice"))
            #expect(try await terminal.exitCode() == 0, "\(terminal.screen)")
            // The device code holds the marker.
            #expect(!terminal.screen.contains("CANARY") && !terminal.screen.contains("dc_"))
            let logins = try await world.ok("login", "list", "--json").json["logins"] as? [[String: Any]]
            #expect(logins?.map { $0["user"] as? String } == ["alice"])
            #expect(logins?.first?["renewable"] as? Bool == true)
        }
    }

    @Test func aRefusalIsTold() async throws {
        try await World.with({ $0.devicePollInterval = .seconds(1) }) { world in
            let terminal = try device(world, "--verbose")
            let code = try await userCode(terminal)
            #expect(world.server.decideDevice(userCode: code, user: nil))
            #expect(try await terminal.exitCode() == VaultControl.ExitStatus.provider.rawValue)
            #expect(terminal.screen.contains("the user refused the log-in"))
            #expect(!terminal.screen.contains("CANARY") && !terminal.screen.contains("dc_"))
        }
    }

    @Test func theTimeToApproveEnds() async throws {
        try await World.with({
            $0.devicePollInterval = .seconds(1)
            $0.deviceCodeLifetime = .seconds(2)
        }) { world in
            let result = try await world.fails(.provider, Self.command + ["--json"])
            #expect((try result.json["error"] as? [String: Any])?["code"] as? String == "logInExpired")
            #expect(result.error.contains("/device"))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheWait(_ signal: Int32) async throws {
        try await World.with { world in
            let terminal = try device(world)
            _ = try await userCode(terminal)
            terminal.send(signal)
            #expect(try await terminal.exitCode() == 128 + signal, "\(terminal.screen)")
        }
    }

    @Test func aProviderWithoutTheEndpointSaysWhatToDo() async throws {
        try await World.with { world in
            try await world.ok("provider", "update", "acme", "--remove", "device-authorization-endpoint", "--yes")
            let result = try await world.fails(.provider, Self.command)
            #expect(result.error.contains("no device authorization endpoint"))
        }
    }
}
