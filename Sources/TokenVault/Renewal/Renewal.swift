import Logging
import OAuthClient
import Synchronization
import VaultStorage

/// Drives one ``RenewalMachine``: performs its effects and brings back what came of them.
///
/// Tokens live here between the reply and the commit, and nowhere else.
struct Renewal: Sendable {
    let engine: RenewalEngine
    let flight: Flight
    let login: LoginHandle
    let demand: RenewalDemand
    /// Every intent that this renewal has written.
    let fences = FenceSet()
    /// What came, until what it brought is stored.
    let responses = HeldResponses()

    var vault: Vault { engine.vault }

    func run() async -> RenewalMachine.Ending {
        defer { vault.attemptsEnded(fences.all) }
        var machine = RenewalMachine()
        var attempt: RenewalAttempt?
        var event = RenewalMachine.Event.started
        let startedAt = vault.now
        while true {
            var answer: RenewalMachine.Event?
            for effect in machine.handle(event) {
                switch effect {
                case .claim:
                    let wanted = machine.hasRedeemedSuccessor ? .validity(nil) : demand
                    (answer, attempt) = await claim(wanted)
                case .pause(let pause):
                    answer = await rest(pause, since: startedAt)
                case .send(let claim):
                    answer = await send(claim, &attempt)
                case .ask(let claim):
                    answer = await ask(claim, &attempt)
                case .store(let claim, _):
                    answer = await store(claim, attempt)
                    if case .stored? = answer { responses.announce() }
                case .record(let claim, let verdict):
                    answer = await record(claim, verdict, attempt)
                    responses.announce()
                case .openBreaker:
                    guard let provider = attempt?.provider else { continue }
                    engine.openBreaker(provider)
                case .closeBreaker:
                    guard let provider = attempt?.provider else { continue }
                    engine.breakers.close(provider.handle)
                case .announceDeath:
                    await engine.announceDeath(of: login)
                case .end(let ending):
                    log(ending)
                    responses.announce()
                    return ending
                }
            }
            guard let answer else { return .refused(.storeFailed) }
            event = answer
        }
    }

    /// The waits of the machine. Waiting for another owner watches the intent by reading: a write for each look would
    /// be a durable commit that changes nothing.
    private func rest(_ pause: RenewalMachine.Pause, since startedAt: Timestamp) async -> RenewalMachine.Event {
        switch pause {
        case .forOwner:
            return await waitForOwner(since: startedAt)
        case .beforeReplay:
            // The first request may still be running somewhere: two at once would look like theft.
            await vault.pause(.milliseconds(250))
        case .beforeStoringAgain(let failures):
            await vault.pause(Backoff.storing.pause(afterFailures: failures, random: engine.random()))
        }
        return .pauseEnded
    }

    private func waitForOwner(since startedAt: Timestamp) async -> RenewalMachine.Event {
        var look = Duration.milliseconds(5)
        while vault.now.since(startedAt) < engine.options.stallLimit ?? .seconds(60) {
            await vault.pause(look)
            look = min(look * 2, .milliseconds(100))
            do {
                let stored = try vault.store.login(login)
                guard let intent = stored.intent, vault.owner(of: intent) == .working else { return .pauseEnded }
            } catch {
                return .pauseEnded
            }
        }
        return .refused(.ownerStalled)
    }

    private func log(_ ending: RenewalMachine.Ending) {
        vault.logger.debug(
            "renewal ended",
            metadata: ["vault-login-handle": "\(login.text)", "ending": "\(ending.name)"])
    }
}

/// What one attempt knows. Forgotten with it.
struct RenewalAttempt: Sendable {
    let claim: RenewalClaim
    let provider: StoredProvider?
    let stored: ClaimedLogin
    var tokens: TokensInHand?
    var nonces: [String: DPoPNonce] = [:]
}

/// What the transaction of the intent read: nothing older may be sent.
struct ClaimedLogin: Sendable {
    let userID: String
    let session: SessionRecord
    let refresh: RefreshRecord?
    let key: KeyRecord?
}

/// The fences of one renewal, collected inside transactions.
final class FenceSet: Sendable {
    private let fences = Mutex<Set<Int64>>([])

    var all: Set<Int64> { fences.withLock { $0 } }

    func insert(_ fence: Int64) {
        fences.withLock { _ = $0.insert(fence) }
    }
}

/// Responses that no listener may hear of yet: the tokens in them are not stored.
final class HeldResponses: Sendable {
    private let recorders = Mutex<[ResponseRecorder]>([])

    func add(_ recorder: ResponseRecorder?) {
        guard let recorder else { return }
        recorders.withLock { $0.append(recorder) }
    }

    func announce() {
        let ready = recorders.withLock { recorders in
            defer { recorders = [] }
            return recorders
        }
        for recorder in ready { recorder.announce() }
    }
}
