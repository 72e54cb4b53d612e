/// Selects a login.
package enum LoginSelector: Hashable, Sendable {
    /// The only login of this user that is not terminated.
    case user(String)
    case login(LoginHandle)
    /// A login that must belong to this user.
    case userLogin(String, LoginHandle)
}
