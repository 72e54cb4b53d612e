import VaultCrypto
import VaultStorage

/// An operator's program that is run for each event. No shell reads its arguments.
///
/// Its last argument is the event's name, and its standard input is the event as JSON. Exit code 0 means that it has
/// handled the event.
package struct EventProgram: Sendable {
    private static let mostOutput = 65_536
    private let program: OperatorProgram

    package init(_ arguments: [String], timeLimit: Duration = .seconds(30)) throws {
        do throws(VaultCryptoError) {
            program = try OperatorProgram(
                arguments, environment: OperatorProgram.inheritedButOurs, timeLimit: timeLimit)
        } catch {
            throw VaultError(.invalidArgument, error.message, hint: error.hint)
        }
    }

    /// Refuses at once a program that could never be run: its events would wait for ever.
    package func check() throws {
        do throws(VaultCryptoError) { try program.check() } catch {
            throw VaultError(.invalidArgument, error.message, hint: error.hint)
        }
    }

    /// - Throws: ``VaultError/Code/tryLater`` if it did not end with exit code 0.
    package func tell(_ name: String, _ json: [UInt8]) async throws {
        let program = program
        try await BlockingLane.care.run {
            do throws(VaultCryptoError) {
                let outcome = try unsafe json.span.bytes.withUnsafeBytes { input throws(VaultCryptoError) in
                    try unsafe program.ask(name, input: input, limit: Self.mostOutput)
                }
                if let refusal = program.refusal(outcome) { throw refusal }
            } catch {
                throw VaultError(.tryLater, error.message, hint: error.hint)
            }
        }
    }
}
