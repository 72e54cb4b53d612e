import FoundationEssentials
import TokenVault
import VaultAdministration

/// The state of the logins, and their providers' answers. A vault is not healthy while users lose their tokens.
enum LoginCheckup {
    /// Reads every login: only the sealed cells show which ones are dead.
    static func findings(_ vault: Vault, _ invocation: Invocation) async -> [DoctorFinding] {
        let progress = CountingProgress("checking logins", invocation)
        defer { progress.finish() }
        return await DoctorFinding.findings(of: .login) {
            let survey = try await vault.survey { progress.update(done: $0, total: $1) }
            return findings(survey, isOnServer: try await vault.server() != nil, now: invocation.now)
        }
    }

    static func findings(_ survey: VaultSurvey, isOnServer: Bool, now: Date) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let count = survey.logins + survey.damaged
        if survey.damaged > 0 {
            findings.append(
                DoctorFinding(
                    .problem, .login, "\(Count.of(survey.damaged, "login")) of \(count) cannot be opened",
                    hint: "see what is wrong with them: vaultctl damage list"))
        }
        let dead = survey.groups.reduce(0) { $0 + $1.dead }
        if dead > 0 {
            findings.append(
                DoctorFinding(
                    .note, .login, "\(dead) of \(Count.of(count, "login")) dead: nothing is sent for them",
                    hint: "list them: vaultctl login list --state dead; then ask their users to log in again: "
                        + "vaultctl login begin --into LOGIN"))
        }
        findings += survey.groups.flatMap { held($0, isOnServer: isOnServer) }
        if !findings.contains(where: { $0.level != .note }), dead == 0 {
            findings.append(DoctorFinding(.ok, .login, "\(Count.of(count, "login")), none dead"))
        }
        let providers = survey.groups.filter { !survey.damagedProviders.contains($0.provider ?? "") }
        return findings + survey.damagedProviders.sorted().map { damaged($0, survey) }
            + providers.map { provider($0, now: now) }
    }

    /// A provider whose row cannot be opened: its logins cannot be renewed.
    private static func damaged(_ provider: String, _ survey: VaultSurvey) -> DoctorFinding {
        let count = survey.groups.first { $0.provider == provider }?.logins ?? 0
        let loss = count > 0 ? ": \(Count.of(count, "login")) cannot be renewed" : ""
        return DoctorFinding(
            .problem, .provider, about: provider, "its row cannot be opened\(loss)",
            hint: "see what is wrong with it: vaultctl damage list")
    }

    /// Logins for which nothing is sent until an operator decides.
    private static func held(_ group: VaultSurvey.Group, isOnServer: Bool) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let expired =
            group.heldAndExpired > 0 ? "; \(group.heldAndExpired) of those held have no good access token left" : ""
        func add(_ count: Int, _ level: DoctorFinding.Level, _ words: String, hint: String) {
            guard count > 0 else { return }
            findings.append(
                DoctorFinding(
                    expired.isEmpty ? level : .problem, .login, about: group.provider ?? "app",
                    "\(Count.of(count, "login")) \(words)\(expired)", hint: hint))
        }
        add(
            group.contested, .problem,
            "owned by this vault, and renewed by the system of origin, too: nothing more is sent from here",
            hint:
                "list them: vaultctl login list --state contested; stop the other system, then take its tokens: "
                + "vaultctl import check SOURCE --name NAME --adopt")
        add(
            group.held, .warning,
            "held since a restore\(isOnServer ? ", a failover" : "") or an accepted older state: no refresh token is "
                + "sent for \(group.held == 1 ? "it" : "them")",
            hint: "see at what risk they can be accepted: vaultctl restore status")
        add(
            group.heldBySource, .note, "renewed by the system of origin, not from here",
            hint: "take over its new tokens: vaultctl import run; once it no longer renews: vaultctl import accept")
        return findings
    }

    /// Whether a provider accepts renewals.
    private static func provider(_ group: VaultSurvey.Group, now: Date) -> DoctorFinding {
        let name = group.provider ?? "app"
        let failing = group.refused + group.retrying + group.inDoubt
        let success =
            group.lastSuccess.map { "the last success was \(Instant.relative($0, now: now))" }
            ?? "there was no success yet"
        guard failing > 0 else { return DoctorFinding(.ok, .provider, about: name, success) }
        var text: [String] = []
        if group.refused > 0 {
            text.append("it refuses to renew \(group.refused) of \(Count.of(group.logins, "login"))")
        }
        if group.retrying > 0 {
            text.append("\(Count.of(group.retrying, "renewal")) did not succeed, and will be tried again")
        }
        if group.inDoubt > 0 { text.append("\(Count.of(group.inDoubt, "renewal")) in doubt") }
        if group.failingAndExpired > 0 {
            text.append("\(Count.of(group.failingAndExpired, "login")) without a good access token")
        }
        if let refusal = group.lastRefusal {
            text.append(
                "\(Instant.relative(refusal.date, now: now)) it said: \(Printable.shortened(refusal.answer.words, to: 200))"
            )
        }
        text.append(success)
        // A refused client stays refused until someone acts, and meanwhile all tokens expire.
        let isProblem = group.refusesClient || group.failingAndExpired > 0
        return DoctorFinding(
            isProblem ? .problem : .warning, .provider, about: name, text.joined(separator: "; "),
            hint: group.refusesClient
                ? NextStepWords.mendClient(group.provider)
                : "see which and why: vaultctl login list --provider \(Printable.argument(name))"
                    + "\(state(group))vaultctl login show LOGIN")
    }

    /// The filter that lists them; none if they may be in several states.
    private static func state(_ group: VaultSurvey.Group) -> String {
        if group.refused > 0 { return " --state refused, " }
        return group.inDoubt > 0 && group.retrying == 0 ? " --state inDoubt, " : ", "
    }
}
