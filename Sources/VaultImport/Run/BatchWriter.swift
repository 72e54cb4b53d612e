import TokenVault
import VaultStorage

/// The rows of one transaction, and their planned changes.
struct PreparedBatch: Sendable {
    let outcomes: [RowOutcome]
    /// Rows whose outcome is already known; nil at ``places``.
    let rows: [ImportedRow?]
    /// Positions of the logins among the rows.
    let places: [Int]
    let logins: [PreparedImport]
}

/// Writes batches to the vault. It is separate from the preparer, so that one batch is prepared while another is
/// written.
struct BatchWriter: Sendable {
    let vault: Vault
    let options: ImportRunOptions

    /// Returns the outcome of each row.
    func write(_ batch: PreparedBatch) async throws -> [ImportedRow] {
        var rows = batch.rows
        for (place, answer) in zip(batch.places, try await answers(for: batch.logins)) {
            let outcome = batch.outcomes[place]
            var (end, login) = Self.outcome(of: answer)
            // A login that an earlier row of a rehearsal added does not exist.
            if options.isRehearsal, case .added = end {
                login = nil
                if case .update = outcome { end = .followed }
            }
            rows[place] = ImportedRow(
                place: outcome.place, outcome: end, login: login.map { LoginID($0) }, row: outcome)
        }
        return rows.compactMap(\.self)
    }

    private func answers(for logins: [PreparedImport]) async throws -> [ImportAnswer?] {
        guard !logins.isEmpty else { return [] }
        let isRehearsal = options.isRehearsal || options.purpose == .compare
        do {
            return try await vault.takeImported(logins, for: options.importPurpose, isRehearsal: isRehearsal)
        } catch let error as VaultError where error.code == .invalidArgument && logins.count > 1 {
            // A vault cannot store one of the rows. Each is tried alone to find it.
            var answers: [ImportAnswer?] = []
            for login in logins { answers += try await self.answers(for: [login]) }
            return answers
        } catch let error as VaultError where error.code == .invalidArgument {
            return [nil]
        }
    }

    private static func outcome(of answer: ImportAnswer?) -> (ImportedRow.Outcome, LoginHandle?) {
        switch answer {
        case nil: (.rejected(.notStorable), nil)
        case .added(let login): (.added, login)
        case .absent: (.absent, nil)
        case .userDisabled: (.rejected(.userDisabled), nil)
        case .damaged: (.rejected(.userDamaged), nil)
        case .known(let login, let meeting):
            switch meeting {
            case .unchanged: (.unchanged, login)
            case .followed: (.followed, login)
            case .older: (.older, login)
            case .renewedBySource: (.renewedBySource, login)
            case .ended: (.ended, login)
            case .taken: (.rejected(.alreadyThere), login)
            }
        }
    }
}

extension ImportRunOptions {
    var importPurpose: ImportPurpose {
        switch purpose {
        case .hold: .take(.source)
        case .take: .take(.vault)
        case .check: .check(adopts: false)
        case .adopt: .check(adopts: true)
        case .compare: .compare
        }
    }
}
