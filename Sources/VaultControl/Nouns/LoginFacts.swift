import FoundationEssentials
import TokenVault

/// How a login is shown. No secret is in what the library tells of it.
enum LoginFacts {
    static let table = Table("LOGIN", "USER", "PROVIDER", "LABEL", "STATE", "EXPIRES")

    static func row(_ entry: LoginEntry, _ invocation: Invocation) -> [String] {
        switch entry {
        case .login(let login):
            let expires = login.expiresAt.map { Instant.relative($0, now: invocation.now) } ?? "?"
            return [
                login.id.description, login.userID, login.provider ?? "", login.label ?? "", StateWords.short(login),
                expires,
            ]
        case .damaged(let id, let problem):
            return [id.description, "", "", "", "damaged: \(problem)", ""]
        }
    }

    static func facts(_ login: Login, _ invocation: Invocation) -> Facts {
        let now = invocation.now
        var facts = Facts()
        facts.add("login", login.id.description)
        facts.add("user", login.userID)
        facts.add("provider", login.provider ?? "none: the app renews this login itself")
        facts.add("label", login.label)
        facts.add("state", StateWords.long(login, now: now))
        facts.add("no renewal before", login.notBefore.map { Instant.words($0, now: now) })
        facts.add("token", login.tokenType)
        facts.add("obtained", Instant.words(login.obtainedAt, now: now))
        facts.add("expires", login.expiresAt.map { Instant.words($0, now: now) } ?? "unknown")
        facts.add("scope", login.scope)
        facts.add("renewable", login.isRefreshable ? "yes" : "no")
        facts.add("DPoP", login.isDPoPBound ? "bound to a key in the vault" : "no")
        facts.add("generation", String(login.generation))
        facts.add("made", Instant.words(login.createdAt, now: now))
        return facts
    }

    /// A login with what is under way, and what comes next.
    static func facts(_ diagnosis: LoginDiagnosis, _ invocation: Invocation) -> Facts {
        let now = invocation.now
        var facts = facts(diagnosis.login, invocation)
        facts.add("renewal", diagnosis.renewal.map { RenewalFacts.words($0, now: now) } ?? "none under way")
        facts.add("last refusal", diagnosis.login.lastRefusal.map { words($0, now: now) })
        facts.add("doubt", diagnosis.renewal?.doubt.map { RenewalFacts.words($0, now: now) })
        facts.add("next step", NextStepWords.words(diagnosis, now: now))
        return facts
    }

    /// In the provider's words; facts are escaped where they are written.
    private static func words(_ refusal: Login.Refusal, now: Date) -> String {
        "\(Instant.words(refusal.date, now: now)): \(refusal.answer.words)"
    }

    private static func json(_ refusal: Login.Refusal) -> JSONValue {
        .object([
            ("at", Instant.json(refusal.date)), ("status", refusal.answer.status.map { .integer($0) } ?? .null),
            ("answer", .string(Printable.escape(refusal.answer.words))),
        ])
    }

    static func json(_ entry: LoginEntry) -> JSONValue {
        switch entry {
        case .login(let login): json(login)
        case .damaged(let id, let problem): .object([("id", .string(id.description)), ("damaged", .string(problem))])
        }
    }

    static func json(_ diagnosis: LoginDiagnosis) -> JSONValue {
        let step = NextStepWords.code(diagnosis.nextStep)
        return .object(
            members(of: diagnosis.login) + [
                ("renewal", diagnosis.renewal.map { RenewalFacts.json($0) } ?? .null),
                ("nextStep", .object([("step", .string(step.word)), ("at", Instant.json(step.at))])),
            ])
    }

    static func json(_ login: Login) -> JSONValue { .object(members(of: login)) }

    private static func members(of login: Login) -> [(String, JSONValue)] {
        let failure = login.failure.map { failure in
            JSONValue.object([("reason", .string(failure.reason.description)), ("at", Instant.json(failure.date))])
        }
        return [
            ("id", .string(login.id.description)), ("user", .string(login.userID)),
            ("provider", JSONValue(login.provider)), ("label", JSONValue(login.label)),
            ("state", .string(StateWords.code(login.state))), ("failure", failure ?? .null),
            ("lastRefusal", login.lastRefusal.map { json($0) } ?? .null), ("inDoubt", .bool(login.isInDoubt)),
            ("notBefore", Instant.json(login.notBefore)),
            ("tokenType", .string(login.tokenType)), ("scope", JSONValue(login.scope)),
            ("obtainedAt", Instant.json(login.obtainedAt)), ("expiresAt", Instant.json(login.expiresAt)),
            ("renewable", .bool(login.isRefreshable)), ("dpop", .bool(login.isDPoPBound)),
            ("generation", .integer(login.generation)), ("createdAt", Instant.json(login.createdAt)),
        ]
    }

    /// A login that was just made: everything for a person, the id alone in a pipe.
    static func emit(new login: Login, _ invocation: Invocation) throws {
        try invocation.emit(
            json: json(login),
            text: invocation.isTerminal
                ? facts(login, invocation).text(isTerminal: true, style: invocation.style) : "\(login.id)\n")
    }
}

extension LoginFacts {
    /// A login in a sentence.
    static func name(_ login: Login) -> String {
        let provider = login.provider.map { " at \(Printable.shortened($0))" } ?? ""
        return "login \(login.id) of user \(Printable.shortened(login.userID))\(provider)"
    }
}
