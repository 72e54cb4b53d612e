import Logging
import OAuthClient
import Tracing
import VaultCrypto
import VaultStorage

/// Drives one ``RenewalMachine``: performs its effects and returns their results as events.
///
/// Between the reply and the commit, tokens are only here, and in the spool if the commit has to wait.
struct Renewal: Sendable {
    let context: RenewalContext
    let flight: Flight
    let login: LoginHandle
    let demand: RenewalDemand
    let target: TokenTarget
    /// Every intent that this renewal has written.
    let fences = FenceSet()
    /// Intents that are taken from living owners, because the policy says so.
    let stalled = FenceSet()
    /// Responses, until their tokens are stored.
    let responses = HeldResponses()
    /// The right to ask a provider that allows a limited number of requests at a time.
    let permit: RateLimitPermit
    /// How long it may take.
    let budget = RenewalBudget()
    /// The trace of the call that started it.
    let trace: ServiceContext

    var vault: Vault { context.vault }

    init(
        context: RenewalContext, flight: Flight, login: LoginHandle, demand: RenewalDemand, trace: ServiceContext
    ) {
        self.context = context
        self.trace = trace
        self.flight = flight
        self.login = login
        self.demand = demand
        target = flight.target
        permit = RateLimitPermit(context.limiter)
    }

    func run() async -> RenewalMachine.Ending {
        let permit = permit
        flight.onCaller { permit.promote() }
        return await traced {
            var asked: Asked?
            let started = vault.timeSource.uptime()
            let ending = await drive(&asked)
            if let asked { context.note(ending, of: login, asked, took: vault.timeSource.uptime() - started) }
            return (ending, asked?.name)
        }
    }

    private func drive(_ asked: inout Asked?) async -> RenewalMachine.Ending {
        defer {
            vault.attemptsEnded(fences.all)
            permit.end()
        }
        var machine = RenewalMachine(hasConsent: await hasConsent())
        var attempt: RenewalAttempt?
        var backoff = CloseBackoff()
        var event = RenewalMachine.Event.started
        while true {
            var answer: RenewalMachine.Event?
            for effect in machine.handle(event) {
                switch effect {
                case .claim:
                    let wanted = machine.hasRedeemedSuccessor ? .validity(nil) : demand
                    let asking = attempt?.claim
                    (answer, attempt) = await claim(
                        wanted, mayAsk: machine.mayAsk, continuing: asking, givenBack: machine.claimsGivenBack)
                    if let attempt { asked = Asked(attempt) }
                case .pause(let pause):
                    answer = await rest(pause, attempt, &backoff)
                case .noteReplay(let claim):
                    answer = await noteReplay(claim, &attempt)
                case .send(let claim):
                    answer = await send(claim, &attempt)
                case .ask(let claim):
                    answer = await ask(claim, &attempt)
                case .exchange(let claim):
                    asked = Asked(attempt?.provider)
                    answer = await exchange(claim, &attempt)
                case .store(let claim, let reply):
                    answer = await store(claim, reply, attempt, isSecond: machine.hasRedeemedSuccessor)
                case .spool:
                    answer = spool(&attempt)
                case .serveSpooled:
                    if let reply = attempt?.reply { flight.serve(reply) }
                case .unspool:
                    unspool(&attempt)
                case .record(let claim, let verdict):
                    answer = await record(claim, verdict, attempt)
                    responses.announce()
                case .openBreaker:
                    guard let provider = attempt?.provider else { continue }
                    await tryOtherSecrets(of: provider, attempt) {
                        context.openBreaker(provider, moment: attempt?.moment)
                    }
                case .countRefusal:
                    guard let attempt, let provider = attempt.provider else { continue }
                    await tryOtherSecrets(of: provider, attempt) {
                        context.noteRefusal(
                            of: login, isClean: attempt.stored.session.isClean, by: provider, moment: attempt.moment)
                    }
                case .closeBreaker:
                    guard let provider = attempt?.provider else { continue }
                    context.health.change(provider.handle) { $0.breaker.succeed() }
                    if attempt?.hasKnownLifetime == false, attempt?.reply.map(context.shouldLearnExpiry) == true {
                        await context.learnExpiry(of: login, within: timeLeft(attempt))
                    }
                case .noteRefusedTarget:
                    context.refusedTargets.note(target, of: login, now: vault.now)
                case .announceRefreshFailed:
                    await context.noteDead(login)
                    endProbe(attempt)
                    if attempt?.refusal == .bare, let provider = attempt?.provider {
                        await context.checkSecret(of: provider, within: timeLeft(attempt))
                    }
                    await context.announceFailure(of: login)
                case .announceNeed:
                    endProbe(attempt)
                    await context.announceFailure(of: login)
                case .end(let ending):
                    if machine.hasConsent { rememberConsent(after: ending, attempt) }
                    finish(ending, attempt)
                    return ending
                }
            }
            guard let answer else { return .refused(.storeFailed) }
            event = answer
        }
    }

    private func endProbe(_ attempt: RenewalAttempt?) {
        guard let provider = attempt?.provider else { return }
        let now = vault.now
        context.health.change(provider.handle) { $0.breaker.probeEnded(now: now) }
    }

    /// Whether the app agreed to this very renewal a moment ago.
    private func hasConsent() async -> Bool {
        guard let position = context.consents.take(login, uptime: vault.timeSource.uptime()) else { return false }
        return (try? await vault.store.login(login).position) == position
    }

    private func rememberConsent(after ending: RenewalMachine.Ending, _ attempt: RenewalAttempt?) {
        guard case .failed(.notSent) = ending, let position = attempt?.claim.position else { return }
        context.consents.note(login, at: position, uptime: vault.timeSource.uptime())
    }

    /// The provider's answer may be about the secret: then another one may be good.
    ///
    /// - Parameter note: May open the breaker. A login that is stopped by it finds the trial in progress.
    private func tryOtherSecrets(
        of provider: StoredProvider, _ attempt: RenewalAttempt?, after note: () -> Void
    ) async {
        guard attempt?.refusal == .told, provider.record.clientSecrets.count > 1 else { return note() }
        let isFirst = context.secretTrials.begin(provider.handle)
        note()
        let time = timeLeft(attempt)
        guard await context.findWorkingSecret(of: provider, within: time, hasBegun: isFirst) else { return }
        // The login is not at fault: its pause was for the secret.
        try? await vault.change(login) { $0.session.clearPostponements() }
        flight.noteNewSecret()
    }

    private func finish(_ ending: RenewalMachine.Ending, _ attempt: RenewalAttempt?) {
        vault.logger.debug(
            "renewal ended",
            metadata: ["vault-login-handle": "\(login.text)", "ending": "\(ending.name)"])
        if case .refused = ending, attempt?.reply != nil, attempt?.spooled == nil {
            vault.logger.error(
                "new tokens are lost: neither the vault nor its spool could be written",
                metadata: ["vault-login-handle": "\(login.text)"])
        }
        responses.announce()
    }
}

/// The data of one attempt. Forgotten with it.
struct RenewalAttempt: Sendable {
    let claim: RenewalClaim
    let provider: StoredProvider?
    let stored: ClaimedLogin
    let policy: ReplayPolicy
    /// When the intent was known to be durable: how long the disk took for it does not count.
    var claimedAt: Duration
    /// The longest time from then to the request.
    let longestWay: Duration
    /// The breaker's moment when it let the attempt pass: ``Breaker/moment``. The attempt knows nothing of later
    /// refusals.
    let moment: Int
    /// The app's token for the exchange.
    var authToken: AuthToken?
    /// The reply, until it is stored.
    var reply: SpooledReply?
    /// Its entry in the spool meanwhile.
    var spooled: SpoolHandle?
    var nonces: [String: DPoPNonce] = [:]
    /// Whether the new token is assumed to live as long as earlier ones.
    var hasKnownLifetime = false
    /// Whether the server may have spent the refresh token although its answer brought nothing.
    var leavesDoubt = false
    /// The provider's answer, if it refused.
    var answer: ProviderAnswer?
    /// How the last reply may concern the client's secret.
    var refusal: ClientRefusal?
    /// How often the refresh token was sent again within the last exchange, for a proof or a scope, and not yet
    /// recorded by a transaction.
    var unreportedRepeats = 0
}

extension RenewalAttempt {
    /// The audit events of the last exchange besides its outcome.
    var repeatEvents: [AuditEvent] {
        Array(repeating: AuditEvent(.renewalRepeated, [.cause(.challenge)]), count: unreportedRepeats)
    }
}

/// The login as read in the intent's transaction: nothing older may be sent.
struct ClaimedLogin: Sendable {
    let login: LoginHandle
    let user: UserHandle
    let userId: String
    let session: SessionRecord
    let refresh: RefreshRecord?
    let key: KeyRecord?

    /// The identity that an id token must name: with the issuer, if an earlier one named it.
    var identity: IDTokenIdentity? {
        guard let subject = session.subject else { return nil }
        let known = refresh?.idToken?.string().flatMap { try? IDToken($0) }.flatMap { IDTokenIdentity($0) }
        return IDTokenIdentity(subject: subject, issuer: known?.subject == subject ? known?.issuer : nil)
    }
}
