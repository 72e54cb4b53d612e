/// The rows of an open source. Used by one thread at a time.
final class SourceReader {
    /// What a look into the file has shown.
    enum Detected {
        case tables(any TableContainer, StoreMatch)
        case msal(MSALCache)

        init(_ opening: ImportSource.Opening, _ plan: ImportPlan) throws(ImportError) {
            let stream = try Self.stream(opening)
            let format = try FormatDetection.format(
                of: stream.head(), hasCSVPlan: plan.header != nil)
            try stream.check()
            if format == .json {
                guard plan.kind == nil || plan.kind == .msal else {
                    throw ImportError(.unknownStore, "the source is one JSON document, which only MSAL's cache is")
                }
                self = .msal(try MSALCache(stream, plan))
                return
            }
            let container = try Self.container(format, opening, plan)
            self = .tables(container, try StoreMatch.find(in: container, plan))
        }

        private static func stream(_ opening: ImportSource.Opening) throws(ImportError) -> ByteStream {
            switch opening {
            case .file(let path): try ByteStream(path: path)
            case .bytes(let bytes): ByteStream(bytes)
            }
        }

        private static func container(
            _ format: SourceFormat, _ opening: ImportSource.Opening, _ plan: ImportPlan
        ) throws(ImportError) -> any TableContainer {
            let open = { () throws(ImportError) in try stream(opening) }
            switch (format, opening) {
            case (.sqlite, .file(let path)): return try SQLiteContainer(path: path, limits: plan.limits)
            case (.sqlite, .bytes), (.json, _):
                throw ImportError(.unknownFormat, "SQLite databases are read from files")
            case (.jsonLines, _): return try JSONLinesContainer(limits: plan.limits, open: open)
            case (.csv, _): return try CSVContainer(limits: plan.limits, header: plan.header, open: open)
            case (.sqlDump, _): return try SQLDumpContainer(limits: plan.limits, open: open)
            }
        }

        var detection: StoreDetection {
            switch self {
            case .tables(_, let match): match.detection
            case .msal(let cache): cache.detection
            }
        }
    }

    private enum Stage {
        case registrations(any RecordCursor, RegistrationReader)
        case logins(any RecordCursor)
        case msal(MSALCursor)
        case ended
    }

    private var stage: Stage
    private let logins: LoginReader?
    private let context: StoreContext?

    init(_ opening: ImportSource.Opening, _ plan: ImportPlan) throws(ImportError) {
        switch try Detected(opening, plan) {
        case .msal(let cache):
            stage = .msal(MSALCursor(cache, plan))
            logins = nil
            context = nil
        case .tables(let container, let match):
            let context = try StoreContext(plan: plan, format: container.format)
            for (link, table) in match.links {
                try container.prepareLookup(in: table, by: link.to, of: match.columns(of: link, plan))
            }
            self.context = context
            logins = LoginReader(
                description: match.description, context: context, container: container, table: match.table,
                links: match.links)
            if let table = match.registrations, let rule = match.description.registrations {
                let reader = RegistrationReader(description: rule, context: context, table: table)
                stage = .registrations(try container.rows(of: table), reader)
            } else {
                stage = .logins(try container.rows(of: match.table))
            }
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
                stage = .logins(try logins.container.rows(of: logins.table))
            case .logins(let cursor):
                if let reading = try cursor.next(), let logins { return try logins.row(reading) }
                stage = .ended
            }
        }
    }
}

extension StoreMatch {
    /// What is read of a linked table.
    func columns(of link: StoreLink, _ plan: ImportPlan) -> Set<String> {
        var paths = description.user.paths(for: plan.userKey) + description.provider + description.subject
        paths += description.clientID + description.links.flatMap(\.from) + description.attributes.map(\.path)
        let columns = paths.filter { $0.part == link.part }.map(\.column)
        return Set(columns).union([link.to])
    }
}
