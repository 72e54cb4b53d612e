import FoundationEssentials
import TokenVault
import VaultAdministration

/// How a login is displayed. The library's description of it contains no secret.
enum LoginView {
    static let headings = ["LOGIN", "USER", "PROVIDER", "LABEL", "STATE", "EXPIRES"]

    static func record(_ entry: LoginEntry, now: Date) -> OutputRecord {
        switch entry {
        case .login(let login): record(login, now: now)
        case .damaged(let id, let problem):
            [Field("id", id).column("LOGIN"), Field("damaged", problem).column("STATE", "damaged: \(problem)")]
        }
    }

    static func record(_ login: Login, now: Date) -> OutputRecord {
        [
            Field("id", login.id).label("login").column("LOGIN"),
            Field("user", login.userId).column("USER"),
            Field("tenant", Tenant.of(login.userId)?.tenant.name),
            Field("provider", login.provider).orWords("none: the app renews this login itself").column("PROVIDER"),
            Field("label", login.label).column("LABEL"),
            Field("metadata", login.metadata.isEmpty ? nil : metadata(login)).words(
                login.metadata.isEmpty ? nil : metadataWords(login)),
            Field("origin", login.origin.map(record))
                .label(login.origin?.isExported == true ? "exported to" : "imported from")
                .words(login.origin.map(words)),
            Field("state", StateWords.code(login.state))
                .words(StateWords.long(login, now: now), inPipe: login.standing.rawValue)
                .column("STATE", StateWords.short(login), inPipe: login.standing.rawValue),
            .data("standing", login.standing.rawValue),
            Field("terminationReason", StateWords.terminationReason(login)).label("terminated as"),
            Field(
                "failure",
                login.failure.map { [.data("reason", $0.reason.description), .data("at", $0.date)] as OutputRecord }
            ).label("dead").words(
                JSONValue.null, inPipe: login.failure.map { StateWords.words($0, now: nil) }),
            Field("lastRefusal", login.lastRefusal.map(record))
                .words(
                    login.lastRefusal.map { "\(Instant.words($0.date, now: now)): \($0.answer.words)" },
                    inPipe: login.lastRefusal.map { "\(Instant.words($0.date, now: nil)): \($0.answer.words)" }),
            .data("inDoubt", login.isInDoubt),
            .data("hold", login.hold?.rawValue), .data("isRefused", login.isRefused),
            Field("notBefore", login.notBefore).label("no renewal before"),
            Field("tokenType", login.tokenType.description),
            Field("scope", login.scope?.description),
            Field("resource", login.resource).words(login.resource),
            Field("obtainedAt", login.obtainedAt),
            Field("expiresAt", login.expiresAt).orWords("unknown").column(
                "EXPIRES", login.expiresAt?.json ?? "?", inPipe: login.expiresAt),
            Field("renewable", login.isRefreshable),
            Field("dpop", login.isDPoPBound).words(login.isDPoPBound ? "bound to a key in the vault" : "no"),
            Field("generation", login.generation),
            Field("createdAt", login.createdAt),
        ]
    }

    /// Adds data that only the user may see as a whole: their identity at the provider, and its claims about them.
    static func wholeSheet(_ entry: LoginEntry, now: Date) -> OutputRecord {
        guard case .login(let login) = entry else { return record(entry, now: now) }
        let attributes = OutputRecord(login.attributes.sorted { $0.key < $1.key }.map { .data($0.key, $0.value) })
        let tokens = login.resourceTokens.map { token -> OutputRecord in
            [
                .data("resource", token.resource), .data("scope", token.scope?.description),
                .data("expiresAt", token.expiresAt),
            ]
        }
        return record(login, now: now) + [
            .data("subject", login.subject),
            Field("attributes", attributes).words(
                login.attributes.isEmpty
                    ? nil
                    : login.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(
                        separator: ", ")),
            .data("resourceTokens", tokens),
        ]
    }

    /// A login with its work in progress and its next step.
    static func record(_ diagnosis: LoginDiagnosis, now: Date) -> OutputRecord {
        let (renewal, step) = (diagnosis.renewal, NextStepWords.code(diagnosis.nextStep))
        return record(diagnosis.login, now: now) + [
            Field("renewal", renewal.map(RenewalView.record))
                .words(
                    renewal.map { RenewalView.words($0, now: now) } ?? "none in progress",
                    inPipe: renewal.map { RenewalView.words($0, now: nil) } ?? "none in progress"),
            .line("doubt", renewal?.doubt.map { RenewalView.words($0, now: now) })
                .words(
                    renewal?.doubt.map { RenewalView.words($0, now: now) },
                    inPipe: renewal?.doubt.map { RenewalView.words($0, now: nil) }),
            Field("nextStep", [.data("step", step.word), .data("at", step.at)] as OutputRecord)
                .words(NextStepWords.words(diagnosis, now: now), inPipe: NextStepWords.words(diagnosis, now: nil)),
        ]
    }

    private static func metadata(_ login: Login) -> OutputRecord {
        OutputRecord(login.metadata.sorted { $0.key < $1.key }.map { .data($0.key, $0.value) })
    }

    private static func metadataWords(_ login: Login) -> String {
        login.metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }

    private static func record(_ origin: LoginOrigin) -> OutputRecord {
        [
            .data("source", origin.source), .data("owner", origin.owner.rawValue), .data("takenAt", origin.takenAt),
            .data("isMissing", origin.isMissing),
        ]
    }

    private static func words(_ origin: LoginOrigin) -> String {
        let owner =
            switch origin.owner {
            case .source: origin.isMissing ? "which no longer has it" : "which renews it"
            case .vault: "and renewed here"
            case .contested: "which has renewed it, too, so it is not renewed here"
            }
        return "\(Printable.shortened(origin.source)), \(owner)"
    }

    /// In the provider's words, which are escaped when written as lines.
    private static func record(_ refusal: Login.Refusal) -> OutputRecord {
        [
            .data("at", refusal.date), .data("status", refusal.answer.status),
            .data("failure", refusal.answer.failure?.name), .data("location", refusal.answer.location),
            .data("answer", Printable.escape(refusal.answer.words)),
        ]
    }

    /// Prints a new login: everything for a person, the id alone in a pipe.
    static func emit(new login: Login, _ invocation: Invocation) throws {
        try emit(login, record(login, now: invocation.now), invocation)
    }

    /// The same, and whether the id token's signature was checked: programs do not read warnings.
    static func emit(new done: CompletedLogIn, _ invocation: Invocation) throws {
        try emit(
            done.login,
            record(done.login, now: invocation.now) + [
                .data("isSignatureChecked", done.claims?.isSignatureChecked),
                .data("whyNotRenewable", done.whyNotRenewable),
            ],
            invocation)
        if let why = done.whyNotRenewable {
            invocation.warn("this login cannot be renewed: when its token expires, the user must log in again")
            invocation.hint(why)
        }
    }

    private static func emit(_ login: Login, _ record: OutputRecord, _ invocation: Invocation) throws {
        try invocation.emit(record, text: invocation.isTerminal ? invocation.text(record) : "\(login.id)\n")
    }
}

extension LoginView {
    /// A login in a sentence.
    static func name(_ login: Login) -> String {
        let provider = login.provider.map { " at \(Printable.shortened($0))" } ?? ""
        return "login \(login.id) of user \(Printable.shortened(login.userId))\(provider)"
    }
}
