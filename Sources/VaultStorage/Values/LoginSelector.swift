/// Selects a login.
package enum LoginSelector: Hashable, Sendable {
    /// The only login of this user that is not terminated.
    case user(String)
    /// A login that must belong to a user whose id begins with this text.
    case login(LoginHandle, ofUsers: String = "")
}
