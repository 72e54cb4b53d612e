import ArgumentParser
import TokenVault

/// How a login stands, in one word: for lists in a pipe, and to choose by.
enum LoginStanding: String, CaseIterable, ExpressibleByArgument {
    case establishing
    /// Its access token is valid.
    case established
    /// A renewal may have reached the provider, and no usable reply came.
    case inDoubt
    /// The access token has expired; it is renewed at the next use, or set by the app.
    case expired
    case dead
    /// Ended by a log-out, or because the user was disabled.
    case terminated
    case notLoggedIn

    init(_ login: Login) {
        self =
            switch login.state {
            case .notLoggedIn: .notLoggedIn
            case .establishing: .establishing
            case .terminated: .terminated
            case .tokenExpired(_?): .dead
            case .established where login.isInDoubt: .inDoubt
            case .established: .established
            case .tokenExpired(nil): login.isInDoubt ? .inDoubt : .expired
            }
    }
}
