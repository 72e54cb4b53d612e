import TokenVault

/// How a user is displayed.
enum UserView {
    static let headings = ["USER", "STATUS", "LOGINS", "SINCE"]

    static func record(_ entry: UserEntry) -> OutputRecord {
        switch entry {
        case .user(let user): record(user)
        case .damaged(let handle, let problem):
            [
                Field("handle", handle).column("USER", "(\(handle))"),
                Field("damaged", problem).column("STATUS", "damaged: \(problem)"),
            ]
        }
    }

    static func record(_ user: User) -> OutputRecord {
        let status = user.isEnabled ? "enabled" : "disabled"
        return [
            Field("id", user.id).label("user").column("USER"),
            Field("tenant", Tenant.of(user.id)?.tenant.name),
            Field("enabled", user.isEnabled).label("status").words(status).column("STATUS", status),
            Field("handle", user.handle).label("in the audit log"),
            Field("createdAt", user.createdAt).column("SINCE"),
            Field("logins", user.logins).words(user.logins.count).column("LOGINS", user.logins.count),
        ]
    }
}
