import DevAuthorizationServer
import NIOCore
import Testing

struct LifecycleTests {
    @Test func manyServersRunSideBySide() async throws {
        let ports = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await DevAuthorizationServer.withRunningServer { server in
                        _ = try await Client(server).logIn()
                        return server.port
                    }
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(ports.count >= 8)
    }

    @Test func takenPortIsAnError() async throws {
        try await withServer { server in
            var configuration = AuthorizationServerConfiguration()
            configuration.port = server.port
            await #expect(throws: (any Error).self) { try await DevAuthorizationServer.start(configuration) }
        }
    }

    @Test func serverIsGoneAfterShutDown() async throws {
        let server = try await DevAuthorizationServer.start()
        _ = try await Wire.get(server.base + "/jwks")
        await server.shutDown()
        await #expect(throws: (any Error).self) {
            try await Wire.send("GET", server.base + "/jwks", timeout: .milliseconds(500))
        }
    }
}
