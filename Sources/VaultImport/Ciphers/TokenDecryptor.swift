import VaultCrypto

/// Opens stored tokens by a program of the operator's: one process for the whole source, and a batch of lines at a time.
///
/// A line is a value as its column has it, and the line that comes back is the token. An empty one says that the program
/// cannot open the value. Used by one thread at a time.
final class TokenDecryptor {
    /// Rows whose tokens are opened together.
    static let batchRows = 256
    private static let timeLimit = Duration.seconds(60)

    private let program: LineProgram
    /// Of the batch.
    private var opened: [String: String] = [:]

    init(_ arguments: [String], _ limits: ImportLimits) throws(ImportError) {
        do throws(VaultCryptoError) {
            program = try LineProgram(arguments, longest: limits.recordBytes, timeLimit: Self.timeLimit)
        } catch {
            throw ImportError(error)
        }
    }

    /// Opens the values of the next batch, each once.
    func open(_ values: Set<String>) throws(ImportError) {
        opened = [:]
        // A value with a line break would be two.
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

    /// Nil if the program could not open it.
    subscript(value: String) -> String? { opened[value] }

    /// Says that there is no more. The program must end well.
    func finish() throws(ImportError) {
        do throws(VaultCryptoError) { try program.finish() } catch { throw ImportError(error) }
    }
}

extension ImportError {
    fileprivate init(_ error: VaultCryptoError) {
        self.init(.programFailed, error.reason, hint: error.hint)
    }
}
