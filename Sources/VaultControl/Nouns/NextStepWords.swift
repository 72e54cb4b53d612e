import FoundationEssentials
import TokenVault
import VaultAdministration

/// A login's next step, or the action required of someone, in words and for programs.
enum NextStepWords {
    static func words(_ diagnosis: LoginDiagnosis, now: Date?) -> String {
        let login = diagnosis.login
        return switch diagnosis.nextStep {
        case .renewWhenNeeded where login.isRefused: "\(reason); a renewal is tried again when a call needs it"
        case .renewWhenNeeded: "none: it is renewed when a call needs it"
        case .appSuppliesToken:
            login.state == .established
                ? "none until the access token expires; it cannot be renewed, so the app then sets a new one: "
                    + "vaultctl token update \(login.id)"
                : setTokenOrLogIn(login)
        case .waitForRenewal: "wait: a renewal is in progress"
        case .takeOverStalled:
            "find the process that stalled in the middle of the renewal, and end it: another then takes over; "
                + "if it cannot be ended: vaultctl login take-over \(login.id)"
        case .recover:
            "a running service takes over by itself; without one: vaultctl login refresh \(login.id)"
        case .sendAgain(nil):
            "the same refresh token is sent again at the next use, or now: vaultctl login refresh \(login.id)"
        case .sendAgain(let date?):
            "the same refresh token is sent again at the next use after \(Instant.words(date, now: now))"
        case .useToken(let until):
            "this provider must not see the refresh token again: use the access token "
                + (until.map { "until \(Instant.words($0, now: now))" } ?? "while it lasts")
                + ", then \(logIn(login))"
        case .wait(let until) where login.isRefused:
            "\(reason); no renewal is tried before \(Instant.words(until, now: now))"
        case .wait(let until): "wait: no renewal is tried before \(Instant.words(until, now: now))"
        case .mendClient: Self.mendClient(login.provider)
        case .setTokenOrLogIn: setTokenOrLogIn(login)
        case .logIn where login.state == .terminated(.globalBan):
            "none: the user is banned; a new log-in stays possible unless you disable the user: "
                + "vaultctl user disable \(Printable.argument(login.userId))"
        case .userMustAct, .logIn: logIn(login)
        case .enableUser:
            "enable the user: vaultctl user enable \(Printable.argument(login.userId)); then \(logIn(login))"
        case .acceptRestore:
            "the vault was restored, an older state of it was accepted, or its server has failed over: accept that for "
                + "this provider (vaultctl restore status), or \(logIn(login))"
        case .acceptImport:
            acceptImport(login)
        }
    }

    /// The next step of a login that its provider refuses to renew.
    private static let reason = "find out why the provider refuses it: the last refusal is what it said"

    private static func acceptImport(_ login: Login) -> String {
        let name = login.origin.map { Printable.argument($0.source) } ?? "NAME"
        if login.hold != .contested, login.origin?.isMissing == true {
            return "the source no longer has it, so no import accepts it: if that is wrong, read the right file: "
                + "vaultctl import run SOURCE --name \(name); if the user is gone: vaultctl user erase "
                + Printable.argument(login.userId)
        }
        return login.hold == .contested
            ? "the source has renewed it, too: stop the other system, then take its tokens: "
                + "vaultctl import check SOURCE --name \(name) --adopt"
            : "the other system renews it; once it no longer does: vaultctl import accept \(name)"
    }

    /// The stable word for programs, and its time.
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
        case .mendClient: ("mendClient", nil)
        case .setTokenOrLogIn: ("setTokenOrLogIn", nil)
        case .userMustAct: ("userMustAct", nil)
        case .logIn: ("logIn", nil)
        case .enableUser: ("enableUser", nil)
        case .acceptRestore: ("acceptRestore", nil)
        case .acceptImport: ("acceptImport", nil)
        }
    }

    /// The hint for a provider that refuses this client.
    static func mendClient(_ provider: String?) -> String {
        "check the client's id and secret at the provider; a new secret: vaultctl provider update "
            + "\(provider.map { Printable.argument($0) } ?? "NAME") --client-secret-file FILE"
    }

    private static func setTokenOrLogIn(_ login: Login) -> String {
        "set a new token: vaultctl token update \(login.id)" + (login.provider == nil ? "" : "; or \(logIn(login))")
    }

    /// A login without a provider cannot be restored by a log-in.
    private static func logIn(_ login: Login) -> String {
        "ask the user to log in again: vaultctl login begin"
            + (login.provider == nil ? " --user ID --provider NAME" : " --into \(login.id)")
    }
}
