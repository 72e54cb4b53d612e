import ArgumentParser
import TokenVault
import VaultImport

struct ImportCheckCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find accepted logins that the other system has renewed nevertheless.",
        discussion: """
            Reads the source again. A row whose tokens have changed since its login was accepted proves that the other \
            system still renews: with rotation, that ends the grant for both. Such logins are held at once, and named; \
            stop the other system.

            vaultctl import check db.sqlite3           hold what both renew
            vaultctl import check db.sqlite3 --adopt   the other system is stopped now: take its newer tokens for logins \
            that are dead or contested

            Exit code 3 if there was any, if one is still contested since an earlier reading, if --adopt left out tokens \
            that another login of the user has already, or if rows were rejected and logins not compared; 1 if no row could \
            be compared.
            """)

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup var reportOptions: ReportOptions

    @Flag(help: "Logins that are dead or contested take the source's newer tokens, and are the vault's own.")
    var adopt = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let pass = try await ImportPass.run(source, adopt ? .adopt : .check, reportOptions, global, invocation)
        let adopted = pass.result[.followed]
        if adopted > 0 { invocation.note("\(Count.of(adopted, "login")) took the source's tokens") }
        if let failure = pass.failure { throw invocation.end(afterOutput: failure) }
        let refused = adopt ? pass.result.reasons[.alreadyThere] ?? 0 : 0
        let isPartial = warn(ofUncompared: pass, invocation)
        guard refused > 0 || pass.contested > 0 || isPartial else {
            return invocation.note("the source has renewed no login that is the vault's own")
        }
        if pass.contested > 0, !isPartial {
            invocation.warn(
                "\(Count.of(pass.contested, "login")) still contested since an earlier reading, and this one has no newer "
                    + "tokens for \(pass.contested == 1 ? "it" : "them")")
            invocation.advise(
                "if this is an old copy of the source, read the source itself; once the other system has stopped: "
                    + source.adoption)
        }
        if refused > 0 {
            invocation.warn(
                "\(Count.of(refused, "row")) not adopted: the vault already has \(refused == 1 ? "its" : "their") login "
                    + "or refresh token from another source or row")
            for line in pass.advice { invocation.advise(line) }
        }
        throw ExitRequest(status: .partlyDone)
    }

    /// Whether the source's rows left out logins that they should be compared with, so that nothing is known of those.
    private func warn(ofUncompared pass: ImportPass, _ invocation: Invocation) -> Bool {
        let left = pass.logins - pass.result.matches
        guard left > 0, pass.rejected > 0 || pass.result.matches == 0 else { return false }
        invocation.warn(
            pass.rejected > 0
                ? "\(Count.of(pass.rejected, "row")) rejected, and \(left) of the \(Count.of(pass.logins, "login")) from "
                    + "this source not compared"
                : "\(Count.of(pass.logins, "login")) from this source in the vault, and no row is of \(left == 1 ? "it" : "them"): "
                    + "is it the right one?")
        for line in pass.advice { invocation.advise(line) }
        return true
    }
}

struct ImportCompareCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Say whether the vault has what the source has; change nothing.",
        discussion: """
            The number on which to decide: as long as logins are held, each row must be `unchanged`. `older` are logins \
            with other tokens than the source's, `absent` those that the vault does not have.

            Exit code 3 if anything differs, 1 if no row could be compared.
            """)

    @OptionGroup(title: "Source") var source: SourceOptions
    @OptionGroup var reportOptions: ReportOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let pass = try await ImportPass.run(source, .compare, reportOptions, global, invocation)
        if let failure = pass.failure { throw invocation.end(afterOutput: failure) }
        let result = pass.result
        // Under a name that no source has, nothing was compared with these.
        let taken = pass.isKnownSource ? result.reasons[.alreadyThere] ?? 0 : 0
        let different =
            result[.older] - result.superseded + result[.absent] + result[.ended] + result[.renewedBySource] + taken
        guard different == 0 else {
            invocation.warn("\(Count.of(different, "login")) \(different == 1 ? "differs" : "differ") from the source")
            invocation.hint("import it again: vaultctl import run SOURCE")
            throw ExitRequest(status: .partlyDone)
        }
        // Nothing was compared.
        guard pass.isKnownSource || result[.unchanged] > 0 else {
            for line in pass.advice { invocation.advise(line) }
            throw ExitRequest(status: .partlyDone)
        }
        invocation.note(
            "the source has nothing new for \(Count.of(result[.unchanged], "login"))"
                + (pass.rejected > 0 ? "; rejected \(Count.of(pass.rejected, "row")): --report FILE names them" : ""))
    }
}
