import VaultStorage

/// Whether an attempt may begin, decided inside the transaction that would write its intent. Pure.
package enum ClaimDecision: Equatable, Sendable {
    case satisfied
    case refused(RenewalRefusal)
    case ownedElsewhere
    /// `Doubt`: an earlier attempt with this refresh token has an unknown end.
    case proceed(RenewalClaim.Method, Doubt?)
    /// The doubt can no longer be resolved: the login is dead.
    case giveUp
    /// The attempt can have spent nothing, and no caller waits for it: the intent is removed.
    case close

    /// The state of an open intent's owner, as far as it is known.
    package enum Owner: Equatable, Sendable {
        /// Its attempt is in progress.
        case working
        /// It ended without an answer, or its process died.
        case gone
    }

    struct Circumstances: Sendable {
        var demand: RenewalDemand
        /// The target of the requested token.
        var target = TokenTarget.own
        var now: Timestamp
        var canUseProvider: Bool
        var hasHandler: Bool
        /// Whether the ``SessionHandler`` decides how to renew.
        var asksSession = false
        /// The intent of this renewal under which the app was asked: it blocks no other renewal.
        var asked: Int64?
        var replay = ReplayPolicy()
        var hasOtherLogins = false
        /// Intents to be taken from owners that are alive.
        var stalled: Set<Int64> = []
        var setBack: ClockWatch.SetBack?
        /// The time since an instant.
        var span: @Sendable (Timestamp) -> SteadyClock.Span
        /// Whether this attempt is known to have spent nothing, although that is not recorded.
        var isUnspent: @Sendable (Int64) -> Bool = { _ in false }
        var owner: @Sendable (IntentRecord) -> Owner
    }

    init(_ state: LoginState, _ circumstances: Circumstances) {
        let classifier = TokenClassifier(
            position: state.position, session: state.session, target: circumstances.target, now: circumstances.now,
            setBack: circumstances.setBack)
        let refusal = RenewalRefusal(state, now: circumstances.now)
        let isForRecovery = circumstances.demand == .recovery
        let isSatisfied =
            switch circumstances.demand {
            case .recovery: state.intent == nil
            case .due: state.nextDue.map { !classifier.isDue($0, now: circumstances.now) } ?? true
            case .validity, .newer: classifier.isEnough(for: circumstances.demand)
            }
        if isSatisfied {
            self = .satisfied
        } else if let refusal {
            self = .refused(refusal)
        } else if let intent = state.intent, intent.fence != circumstances.asked,
            !circumstances.stalled.contains(intent.fence), circumstances.owner(intent) == .working
        {
            self = .ownedElsewhere
        } else if state.refresh?.refreshToken != nil, state.provider != nil {
            self = Self.grant(state, circumstances)
        } else if isForRecovery {
            self = .close
        } else if circumstances.asksSession, circumstances.target.isOwn {
            self = .proceed(.session, nil)
        } else {
            // The app's tokens cover everything that was granted.
            self =
                circumstances.hasHandler && circumstances.target.isOwn
                ? .proceed(.handler, nil) : .refused(.notRefreshable)
        }
    }

    private static func grant(_ state: LoginState, _ circumstances: Circumstances) -> ClaimDecision {
        guard circumstances.canUseProvider else { return .refused(.providerMissing) }
        let open = state.intent.flatMap { doubt($0, state, circumstances) }
        // After a renewal that left a doubt, no intent is open: the doubt is settled when the token is wanted, not
        // before.
        guard let doubt = open ?? state.refresh?.doubt, open != nil || circumstances.demand != .recovery else {
            // The app was being asked when its owner died: there is nothing to settle.
            if circumstances.demand == .recovery { return .close }
            return .proceed(circumstances.asksSession && circumstances.target.isOwn ? .session : .grant, nil)
        }
        // A late reply brought the next token: the one in doubt is not sent again at all.
        if state.hasSuccessorInHand { return .proceed(.grant, doubt) }
        let situation = ReplayPolicy.Situation(
            circumstances.span(doubt.since), tries: state.timesSent(circumstances.isUnspent),
            hasOtherLogins: circumstances.hasOtherLogins)
        switch circumstances.replay.answer(situation) {
        case .atOnce, .later: return .proceed(.grant, doubt)
        case .exhausted: return .giveUp
        case .never:
            // Regardless of the demand: while the login's own token is valid, the login is not over.
            let classifier = TokenClassifier(position: state.position, session: state.session, now: circumstances.now)
            guard classifier.isAcceptable(for: .validity(nil)) else { return .giveUp }
            return .refused(.mayNotSendAgain(until: state.session.expiresAt))
        }
    }

    /// Whether a renewal whose app has been asked leaves the question's intent behind.
    var endsQuestion: Bool {
        switch self {
        case .satisfied, .refused: true
        case .ownedElsewhere, .proceed, .giveUp, .close: false
        }
    }

    private static func doubt(
        _ intent: IntentRecord, _ state: LoginState, _ circumstances: Circumstances
    ) -> Doubt? {
        guard !intent.isAsking, intent.isInDoubt || !circumstances.isUnspent(intent.fence) else { return nil }
        guard !circumstances.stalled.contains(intent.fence) else {
            return Doubt(since: intent.doubtSince ?? intent.startedAt, cause: .takenOver)
        }
        return intent.doubt(cause: state.session.doubtCause, isAbandoned: true)
    }
}
