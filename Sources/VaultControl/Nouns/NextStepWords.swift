import FoundationEssentials
import TokenVault

/// What comes next with a login, or who must do what, in words and for programs.
enum NextStepWords {
    static func words(_ diagnosis: LoginDiagnosis, now: Date) -> String {
        let login = diagnosis.login
        return switch diagnosis.nextStep {
        case .renewWhenNeeded: "none: it is renewed when a call needs it"
        case .appSuppliesToken:
            login.state == .established
                ? "none, until the access token expires; it cannot be renewed then, so the app sets a new one: "
                    + "vaultctl token update \(login.id)"
                : setTokenOrLogIn(login)
        case .waitForRenewal: "wait: a renewal is under way"
        case .takeOverStalled:
            "find the process that stopped in the middle of the renewal, and end it: then any other takes over safely; if "
                + "it cannot be ended: vaultctl login take-over \(login.id)"
        case .recover:
            "a running service takes over by itself; without one: vaultctl login refresh \(login.id)"
        case .sendAgain(nil):
            "the same refresh token is sent again at the next use, or now: vaultctl login refresh \(login.id)"
        case .sendAgain(let date?):
            "the same refresh token is sent again at the next use after \(Instant.words(date, now: now))"
        case .useToken(let until):
            "this provider must not see the refresh token again: the access token is used "
                + (until.map { "until \(Instant.words($0, now: now))" } ?? "while it lasts")
                + ", then let the user log in again: vaultctl login begin"
        case .wait(let until): "wait: no renewal is tried before \(Instant.words(until, now: now))"
        case .setTokenOrLogIn: setTokenOrLogIn(login)
        case .userMustAct, .logIn: "let the user log in again: vaultctl login begin"
        case .enableUser:
            "vaultctl user enable lets the user log in again; then: vaultctl login begin"
        case .acceptRestore: "the vault was restored from a backup: that must be accepted before anything is sent"
        }
    }

    /// The stable word for programs, and the time that belongs to it.
    static func code(_ step: LoginDiagnosis.NextStep) -> (word: String, at: Date?) {
        switch step {
        case .renewWhenNeeded: ("renewWhenNeeded", nil)
        case .appSuppliesToken: ("appSuppliesToken", nil)
        case .waitForRenewal: ("waitForRenewal", nil)
        case .takeOverStalled: ("takeOverStalled", nil)
        case .recover: ("recover", nil)
        case .sendAgain(let notBefore): ("sendAgain", notBefore)
        case .useToken(let until): ("useToken", until)
        case .wait(let until): ("wait", until)
        case .setTokenOrLogIn: ("setTokenOrLogIn", nil)
        case .userMustAct: ("userMustAct", nil)
        case .logIn: ("logIn", nil)
        case .enableUser: ("enableUser", nil)
        case .acceptRestore: ("acceptRestore", nil)
        }
    }

    private static func setTokenOrLogIn(_ login: Login) -> String {
        "set a new token: vaultctl token update \(login.id), or let the user log in again: vaultctl login begin"
    }
}
