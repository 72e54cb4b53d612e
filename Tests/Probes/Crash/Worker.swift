import TokenVault

/// Renews one user's login after the other until it is killed, or a file says that it is enough. If it is to tell, it says
/// what was stored.
enum Worker {
    static func run(_ options: Options) async throws {
        let service = try await Service(options, recovery: .milliseconds(200))
        let count = options.integer("users", or: 1)
        let pause = options.integer("pause", or: 0)
        let tells = options.text("tells") != nil
        say("open")
        let end = options.text("until")
        while end.map(Files.exist) != true {
            let user = "user-\(Int.random(in: 0..<count))"
            do {
                let token = try await service.users.updateAccessToken(userId: user)
                // What is only in memory is not acknowledged.
                if tells, !token.isVolatile { say("stored \(user) \(token.generation)") }
            } catch {
                if tells { say("failed \(name(of: error))") }
            }
            if pause > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<pause))) }
        }
        await service.close()
    }
}
