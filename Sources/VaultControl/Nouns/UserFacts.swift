import TokenVault

enum UserFacts {
    static func json(_ user: User) -> JSONValue {
        .object([
            ("id", .string(user.id)), ("enabled", .bool(user.isEnabled)),
            ("createdAt", Instant.json(user.createdAt)),
            ("logins", .array(user.logins.map { .string($0.description) })),
        ])
    }
}
