import TokenVault

/// A short run beside a service: opens, reads one token and perhaps writes, closes.
enum Visit {
    static func run(_ options: Options) async throws {
        let service = try await Service(options)
        let user = try options.required("user")
        if options.text("renew") != nil {
            _ = try await service.users.updateAccessToken(userId: user)
        } else {
            _ = try await service.users.accessToken(userId: user)
        }
        await service.close()
        say("visited")
    }
}
