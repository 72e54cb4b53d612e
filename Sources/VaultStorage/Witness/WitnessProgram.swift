import Platform
package import VaultCrypto

/// An operator's program that keeps the newest note, for instance on another machine.
///
/// Called as `PROGRAM … read`, it prints its note, or nothing if it has none. Called as `PROGRAM … advance`, it reads a
/// note on standard input, keeps it if it is newer than its own, and prints the note that it then has. Called as
/// `PROGRAM … replace`, it keeps the given note in any case. Exit code 75 means *try again*, and any other code except
/// 0 is a failure. Its output is believed only if this vault wrote it.
package struct WitnessProgram: Witness {
    private static let mostBytes = 4_096

    private let program: OperatorProgram

    package init(_ arguments: [String], timeLimit: Duration = .seconds(10)) throws(VaultCryptoError) {
        program = try OperatorProgram(
            arguments,
            environment: OperatorProgram.inherited {
                ["PATH", "HOME", "LANG"].contains(String($0.prefix { $0 != "=" }))
            },
            timeLimit: timeLimit)
    }

    package var interval: Duration { .seconds(30) }
    package var answersAtOnce: Bool { false }
    package var name: String { "the program \(PathName.shown(program.arguments.first ?? ""))" }

    package func text(_ context: VaultContext) throws(StoreError) -> String? {
        let text = try ask("read", [], context)
        return text.isEmpty ? nil : text
    }

    package func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError) {
        let text = try ask(isForced ? "replace" : "advance", Array(note.text(context).utf8), context)
        guard !text.isEmpty else { throw Self.failure(program.failed("does not print what it keeps")) }
        let kept = try WitnessNote(text, context)
        guard kept == note || !isForced && kept.isNewer(than: note) else {
            throw Self.failure(program.failed("has not kept the note that it was given"))
        }
    }

    private func ask(_ verb: String, _ input: [UInt8], _ context: VaultContext) throws(StoreError) -> String {
        do throws(VaultCryptoError) {
            let program = program.adding("TOKENVAULT_VAULT_ID=\(Base32.encode(context.vaultID))")
            let outcome = try unsafe input.span.bytes.withUnsafeBytes { input throws(VaultCryptoError) in
                try unsafe program.ask(verb, input: input, limit: Self.mostBytes)
            }
            if let refusal = program.refusal(outcome) { throw refusal }
            return unsafe outcome.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: VaultCryptoError) -> StoreError {
        StoreError(
            .io(0), "the witness does not answer: \(error.message)",
            hint: error.hint ?? "run the program by hand, with `read`; the vault itself is unharmed")
    }
}
