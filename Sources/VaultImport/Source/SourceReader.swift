/// The rows of an open source. Used by one thread at a time.
final class SourceReader {
    private enum Stage {
        case registrations(any RecordCursor, RegistrationReader)
        case logins(any RecordCursor)
        case decrypted(DecryptedRows)
        case msal(MSALCursor)
        case ended
    }

    private var stage: Stage
    private let logins: LoginReader?
    private let context: StoreContext?

    init(_ opening: ImportSource.Opening, _ plan: ImportPlan, _ found: FoundStore) throws(ImportError) {
        switch found {
        case .msal:
            guard plan.secrets.decryptCommand == nil else {
                throw ImportError(.unfitPlan, "MSAL's cache has no columns that a decrypt command could open")
            }
            stage = .msal(MSALCursor(try MSALCache(opening.stream(), plan), plan))
            logins = nil
            context = nil
        case .tables(let format, let tables, let match):
            let container = try opening.container(format, plan, tables: tables)
            let context = try StoreContext(plan: plan, format: container.format)
            for (link, table) in match.links {
                try container.prepareLookup(in: table, by: link.to, of: match.columns(of: link, plan))
            }
            self.context = context
            let logins = LoginReader(
                description: match.description, context: context, container: container, table: match.table,
                links: match.links)
            self.logins = logins
            if let table = match.registrations, let rule = match.description.registrations {
                let reader = RegistrationReader(description: rule, context: context, table: table)
                stage = .registrations(try container.rows(of: table), reader)
            } else {
                stage = try Self.stage(logins)
            }
        }
    }

    private static func stage(_ logins: LoginReader) throws(ImportError) -> Stage {
        let cursor = try logins.container.rows(of: logins.table)
        guard let decryptor = logins.context.decryptor else { return .logins(cursor) }
        return .decrypted(DecryptedRows(logins, cursor, decryptor))
    }

    /// The share of the rows that was read; nil if unknown.
    var progress: Double? {
        switch stage {
        case .registrations: 0
        case .logins(let cursor): cursor.progress
        case .decrypted(let rows): rows.progress
        case .msal(let cursor): cursor.progress
        case .ended: 1
        }
    }

    var unknownMembers: [String] { context?.unknownMembers ?? [] }

    func next() throws(ImportError) -> SourceRow? {
        while true {
            switch stage {
            case .ended: return nil
            case .msal(let cursor):
                if let row = cursor.next() { return row }
                stage = .ended
            case .registrations(let cursor, let reader):
                if let reading = try cursor.next() { return try reader.row(reading) }
                guard let logins else { return nil }
                stage = try Self.stage(logins)
            case .logins(let cursor):
                if let reading = try cursor.next(), let logins { return try logins.row(reading) }
                stage = .ended
            case .decrypted(let rows):
                if let row = try rows.next() { return row }
                stage = .ended
            }
        }
    }
}

extension StoreMatch {
    /// The columns of a linked table that are read.
    func columns(of link: StoreLink, _ plan: ImportPlan) -> Set<String> {
        var paths = description.user.paths(for: plan.userKey) + description.provider + description.subject
        paths += description.clientID + description.links.flatMap(\.from) + description.attributes.map(\.path)
        let columns = paths.filter { $0.part == link.part }.map(\.column)
        return Set(columns).union([link.to])
    }
}
