import VaultStorage

extension Renewal {
    static let pauseBeforeReplay = Duration.milliseconds(250)

    /// The waits of the machine. Waiting for another owner means reading the intent: a write for each check would be a
    /// durable commit that changes nothing.
    func rest(
        _ pause: RenewalMachine.Pause, _ attempt: RenewalAttempt?, _ backoff: inout CloseBackoff
    ) async -> RenewalMachine.Event {
        switch pause {
        case .forOwner:
            return await waitForOwner()
        case .beforeReplay:
            // The first request may still be running somewhere: two at once would look like theft.
            await vault.pause(Self.pauseBeforeReplay)
        case .beforeStoringAgain(let failures):
            if vault.isClosing {
                guard backoff.lasts(isSpooled: attempt?.spooled != nil) else { return .closed }
            }
            let pause = Backoff.storing.pause(afterFailures: failures, random: context.random())
            await vault.pause(vault.isClosing ? min(pause, CloseBackoff.longestPause) : pause)
        }
        return .pauseEnded
    }

    /// How long the owner of an intent may take; nil: there is no limit. Asking the app is no request, and its answer
    /// may then have to be sent to the provider.
    private func stallLimit(of intent: IntentRecord, at provider: ProviderHandle?) async -> Duration? {
        let limit =
            if let set = context.options.stallLimit { set } else { await vault.stallLimit(of: provider) }
        return intent.isAsking ? context.options.handlerTimeLimit.map { $0 + limit } : limit
    }

    /// Waits for a living owner until it has stored its result, or for as long as it can reasonably take.
    private func waitForOwner() async -> RenewalMachine.Event {
        var look = Duration.milliseconds(5)
        while true {
            await vault.pause(look)
            look = min(look * 2, .milliseconds(100))
            guard !vault.isClosing else { return .closed }
            let stored: StoredLogin
            do throws(StoreError) {
                stored = try await vault.store.login(login)
            } catch {
                return .pauseEnded
            }
            guard let intent = stored.intent, vault.owner(of: intent) == .working else {
                context.awaited.forget(login)
                return .pauseEnded
            }
            // Not by the time when it began: the wall clock may have been set, or be another machine's. An owner that
            // was waited for in vain is not waited for again by every caller.
            let waited = context.awaited.time(of: intent.fence, for: login, at: vault.timeSource.uptime())
            // An app may take as long as it likes, if no limit is set.
            guard let limit = await stallLimit(of: intent, at: stored.provider) else { continue }
            switch context.options.stallPolicy {
            case .safety:
                guard waited < limit else { return .refused(.ownerStalled) }
            case .availabilityOverSafety:
                guard waited >= limit else { continue }
                stalled.insert(intent.fence)
                return .pauseEnded
            }
        }
    }
}

/// How long a vault that is being closed waits for tokens that cannot be stored.
///
/// Not for long once they are in the spool: the next process that opens the vault finds them there. Longer if they are
/// only in memory, but not without end: the closing process wants to end, and the disk may stay full.
struct CloseBackoff {
    static let longestPause = Duration.milliseconds(500)
    static let triesWithSpool = 3
    static let triesWithout = 20

    private var tries = 0

    mutating func lasts(isSpooled: Bool) -> Bool {
        tries += 1
        return tries <= (isSpooled ? Self.triesWithSpool : Self.triesWithout)
    }
}
