/// Names a session that is looked at: that of one login, or that of a user, which all of their logins make up together.
///
/// ```swift
/// for await state in users.sessionStates(of: .user("alice")) { print(state) }
/// ```
public struct SessionRef: Sendable {
    enum Choice: Sendable {
        case login(LoginID)
        case user(String)
    }

    let choice: Choice

    /// The session of this login. The vault need not have it.
    public static func login(_ id: LoginID) -> Self { Self(choice: .login(id)) }

    /// The session of this user, as the app calls them. They need not exist yet.
    public static func user(_ userId: String) -> Self { Self(choice: .user(userId)) }
}

extension SessionRef: PublicRendering {
    var shown: ShownFields {
        switch choice {
        case .login(let id): ["login": id]
        case .user(let userId): ["userId": ShownFields.name(userId)]
        }
    }
}
