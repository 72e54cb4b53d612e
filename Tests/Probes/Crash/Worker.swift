import TokenVault

/// Renews one user's login after the other until it is killed.
enum Worker {
    static func run(_ options: Options) async throws {
        let service = try await Service(options, recovery: .milliseconds(200))
        let count = options.integer("users", or: 1)
        say("open")
        while true {
            _ = try? await service.users.updateAccessToken(userId: "user-\(Int.random(in: 0..<count))")
        }
    }
}
