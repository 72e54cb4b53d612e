import VaultCrypto

/// Decrypts stored tokens with a program of the operator's: one process for the whole source, one batch of lines at a
/// time.
///
/// A line is the value of a column, and the program answers with the token on one line. An empty line means that the
/// program cannot decrypt the value. Used by one thread at a time.
final class TokenDecryptor {
    /// The number of rows whose tokens are decrypted together.
    static let batchRows = 256
    private static let timeLimit = Duration.seconds(60)

    private let program: LineProgram
    /// The tokens of the batch.
    private var opened: [String: String] = [:]

    init(_ arguments: [String], _ limits: ImportLimits) throws(ImportError) {
        do throws(VaultCryptoError) {
            program = try LineProgram(arguments, longest: limits.recordBytes, timeLimit: Self.timeLimit)
        } catch {
            throw ImportError(error)
        }
    }

    /// Decrypts the values of the next batch, each once.
    func open(_ values: Set<String>) throws(ImportError) {
        opened = [:]
        // A value with a line break would become two lines.
        let sent = values.filter { !$0.utf8.contains(0x0A) && !$0.utf8.contains(0x0D) }.sorted()
        do throws(VaultCryptoError) {
            let answers = try program.answers(to: sent.map { Array($0.utf8) })
            for (value, answer) in zip(sent, answers) where !answer.isEmpty {
                opened[value] = String(validating: answer, as: UTF8.self)
            }
        } catch {
            throw ImportError(error)
        }
    }

    /// Nil if the program could not decrypt it.
    subscript(value: String) -> String? { opened[value] }

    /// Closes the program's input. The program must exit with code 0.
    func finish() throws(ImportError) {
        do throws(VaultCryptoError) { try program.finish() } catch { throw ImportError(error) }
    }
}

extension ImportError {
    fileprivate init(_ error: VaultCryptoError) {
        self.init(.programFailed, error.message, hint: error.hint)
    }
}
