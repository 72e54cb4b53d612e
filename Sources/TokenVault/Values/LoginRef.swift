/// Names one login of a vault: by its id, or by its user where that is enough.
///
/// ```swift
/// let token = try await users.accessToken(for: .user("alice", provider: "acme"))
/// try await users.logOut(.login(login.id))
/// ```
///
/// Where a user is named, the login that is meant is the only one that lives, else the only dead one, else the only one
/// at all. If there are several, the call throws ``VaultError/Code/ambiguousLogin`` with their ids; it never guesses.
public struct LoginRef: Sendable {
    enum Choice: Sendable {
        case login(LoginID)
        case user(String)
        case userAtProvider(String, provider: String)
    }

    let choice: Choice

    /// Nil where the login is named by its id.
    var userId: String? {
        switch choice {
        case .login: nil
        case .user(let userId), .userAtProvider(let userId, _): userId
        }
    }

    /// This login.
    public static func login(_ id: LoginID) -> Self { Self(choice: .login(id)) }

    /// The only login of this user, as the app calls them.
    public static func user(_ userId: String) -> Self { Self(choice: .user(userId)) }

    /// The only login of this user at one provider, by the provider's name in this vault.
    public static func user(_ userId: String, provider: String) -> Self {
        Self(choice: .userAtProvider(userId, provider: provider))
    }
}

extension LoginRef: PublicRendering {
    var shown: ShownFields {
        switch choice {
        case .login(let id): ["login": id]
        case .user(let userId): ["userId": ShownFields.name(userId)]
        case .userAtProvider(let userId, let provider):
            ["userId": ShownFields.name(userId), "provider": ShownFields.name(provider)]
        }
    }
}
