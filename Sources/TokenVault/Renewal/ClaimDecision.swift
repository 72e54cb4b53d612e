import VaultStorage

/// Whether an attempt may begin, judged inside the transaction that would write its intent. Pure.
enum ClaimDecision: Equatable, Sendable {
    case satisfied
    case refused(RenewalRefusal)
    case ownedElsewhere
    /// `doubtSince`: an earlier attempt with this refresh token has an unknown end.
    case proceed(RenewalClaim.Method, doubtSince: Timestamp?)

    /// What is known of an open intent's owner.
    enum Owner: Equatable, Sendable {
        /// Its attempt is under way.
        case working
        /// It ended without an answer, or its process died.
        case gone
    }

    struct Circumstances: Sendable {
        var demand: RenewalDemand
        var now: Timestamp
        var canUseProvider: Bool
        var hasHandler: Bool
        var owner: @Sendable (IntentRecord) -> Owner
    }

    init(_ state: LoginState, _ circumstances: Circumstances) {
        let judge = TokenJudge(position: state.position, session: state.session, now: circumstances.now)
        let refusal = RenewalRefusal(
            session: state.session, userStatus: state.userStatus, isHeld: state.isHeld, now: circumstances.now)
        if judge.isEnough(for: circumstances.demand) {
            self = .satisfied
        } else if let refusal {
            self = .refused(refusal)
        } else if let intent = state.intent, circumstances.owner(intent) == .working {
            self = .ownedElsewhere
        } else if state.refresh?.refreshToken != nil, state.provider != nil {
            guard circumstances.canUseProvider else {
                self = .refused(.providerMissing)
                return
            }
            self = .proceed(.grant, doubtSince: state.intent.map { $0.doubtSince ?? $0.startedAt })
        } else {
            self = circumstances.hasHandler ? .proceed(.handler, doubtSince: nil) : .refused(.notRefreshable)
        }
    }
}
