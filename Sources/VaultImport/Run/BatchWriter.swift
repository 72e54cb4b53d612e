import TokenVault
import VaultStorage

/// Rows of one transaction, and what is to be done with them.
struct PreparedBatch: Sendable {
    let outcomes: [RowOutcome]
    /// Those of which it is known already what they are; nil at ``places``.
    let rows: [ImportedRow?]
    /// Where the logins stand among the rows.
    let places: [Int]
    let logins: [PreparedImport]
}

/// Holds batches against the vault. Apart from what prepares them, so that one is prepared while another is written.
struct BatchWriter: Sendable {
    let vault: Vault
    let options: ImportRunOptions

    /// Gives what became of each row.
    func write(_ batch: PreparedBatch) async throws -> [ImportedRow] {
        var rows = batch.rows
        for (place, answer) in zip(batch.places, try await answers(for: batch.logins)) {
            let outcome = batch.outcomes[place]
            var (end, login) = Self.outcome(of: answer)
            // What an earlier row of a rehearsal has added is not there.
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
            // Some row holds what no vault takes: it is found by taking each alone.
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
