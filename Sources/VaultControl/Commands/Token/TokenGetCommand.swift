import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

struct TokenGetCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Get a valid access token, renewed if necessary.",
        discussion: """
            vaultctl token get --user alice
            vaultctl token get --user alice --reveal | sed 's/^/Authorization: Bearer /' | curl -H @- https://api.example/

            Without --reveal, it describes the token without showing it. Every reveal is recorded in the audit log. To \
            call an API, vaultctl request is simpler, and sends the proof that a DPoP token needs. Never put a token \
            into another program's arguments, as in curl -H "… $(vaultctl token get --reveal)": every user of the \
            machine can read them.

            If the provider's tokens do not last as long as --min-validity, the token is printed with a warning, and \
            the exit code is 3. Without --min-validity, a token is renewed when less than five minutes of it are left, \
            or a fifth of its lifetime if that is less.
            """)

    @OptionGroup var selection: LoginSelection

    @Flag(help: "Print the access token itself.")
    var reveal = false

    @Option(help: .init("How long the token must still be valid, such as 90s, 15m or 2h.", valueName: "time"))
    var minValidity: TimeSpan?

    @Option(
        help: .init(
            "How long to wait for an answer. vaultctl still finishes a renewal in progress before it ends.",
            valueName: "time"))
    var deadline: TimeSpan?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let named = try selection.named
        // Printed before the vault closes, which waits for a renewal in progress.
        let isValidForLess = try await VaultAccess(global, invocation).manage { users in
            let choice = try await named.choice(in: users.vault)
            do {
                let token = try await users.token(
                    of: choice, TokenRequest(minimumValidity: minValidity?.duration, deadline: deadline?.duration))
                if reveal { try await users.recordReveal(of: token) }
                try emit(token, invocation)
                sayWhatGoesOn(users, invocation)
                await warnOfEnd(token, users.vault, invocation)
                return warn(about: token, invocation)
            } catch let error as VaultError where error.code == .deadlineExceeded {
                invocation.report(Failure(error))
                sayWhatGoesOn(users, invocation)
                throw ExitRequest(status: ExitStatus(error.code))
            } catch let error as VaultError where minValidity != nil && error.code == .heldBySource {
                var failure = Failure(error)
                failure.hints.append("the token that is there may be good for less: ask without --min-validity")
                throw failure
            }
        }
        if isValidForLess { throw ExitRequest(status: .partlyDone) }
    }

    private func emit(_ token: VaultToken, _ invocation: Invocation) throws {
        let record = TokenView.record(token, now: invocation.now, isRevealed: reveal)
        if reveal {
            try invocation.emit(record, text: token.accessToken.reveal() + "\n")
        } else {
            try invocation.emit(record)
            invocation.hint("--reveal prints the token itself")
        }
    }

    /// Warns that the token is the last one: it is good until it expires, and no other follows.
    private func warnOfEnd(_ token: VaultToken, _ vault: Vault, _ invocation: Invocation) async {
        guard let login = try? await vault.login(token.login), let failure = login.failure else { return }
        invocation.warn(
            "this token is the login's last: it cannot be renewed, \(StateWords.words(failure, now: invocation.now))")
        invocation.hint("ask the user to log in again: vaultctl login begin --into \(login.id)")
    }

    private func sayWhatGoesOn(_ users: UserManager, _ invocation: Invocation) {
        guard deadline != nil, users.vault.isWorking else { return }
        invocation.note("vaultctl: the renewal continues; this process ends when its result is stored")
    }

    /// Warns if the token is valid for less than requested. Even the provider's new one may be.
    private func warn(about token: VaultToken, _ invocation: Invocation) -> Bool {
        guard let wanted = minValidity, let expiresAt = token.expiresAt else { return false }
        let left = max(0, expiresAt.timeIntervalSince(invocation.now))
        guard left < wanted.duration / .seconds(1) else { return false }
        let words = (Instant.duration(left), Instant.duration(wanted.duration / .seconds(1)))
        invocation.warn("the token is valid for \(words.0), not for the \(words.1) requested")
        return true
    }
}
