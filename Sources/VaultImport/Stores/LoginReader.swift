import FoundationEssentials
import OAuthClient

/// Makes logins from a store's rows, as its description defines them.
struct LoginReader {
    let description: StoreDescription
    let context: StoreContext
    let container: any TableContainer
    /// The table with the tokens.
    let table: TableShape
    let links: [(link: StoreLink, table: TableShape)]

    func row(_ reading: RecordReading) throws(ImportError) -> SourceRow {
        switch reading {
        case .fault(let row, let reason): return .reject(SourceReject(place(row, nil), reason))
        case .record(let record):
            let place = place(record.row, key(of: record))
            do throws(RowStop) {
                return .login(try draft(record, at: place).login)
            } catch {
                switch error {
                case .reject(let reason): return .reject(SourceReject(place, reason))
                case .abort(let error): throw error
                }
            }
        }
    }

    /// The values of a row that the plan's program must decrypt. Unreadable values are reported with the row itself.
    func storedTokens(_ reading: RecordReading) -> [String] {
        guard case .record(let record) = reading else { return [] }
        do throws(RowStop) {
            let row = try row(of: record)
            let fields = FieldReader(row: row, context: context)
            var draft = LoginDraft(place(record.row, nil))
            var tokens: [String] = []
            for paths in [description.refreshToken, description.accessToken, description.idToken] {
                if let stored = try fields.stored(paths, description, &draft) { tokens.append(stored) }
            }
            return tokens
        } catch {
            return []
        }
    }

    /// The row with its linked rows.
    private func row(of record: Record) throws(RowStop) -> StoreRow {
        var row = StoreRow(record)
        try follow(&row)
        try description.prepare(&row, context)
        return row
    }

    private func place(_ row: Int, _ key: String?) -> SourcePlace {
        SourcePlace(row: row, table: table.name.isEmpty ? nil : table.name, key: key)
    }

    private func key(of record: Record) -> String? {
        let columns: [String]
        switch context.plan.rowKey {
        case .line?: return String(record.row)
        case .column(let name)?: columns = [ColumnIndex.folded(name)]
        case nil: columns = description.rowKey.filter { $0.part.isEmpty }.map(\.column)
        }
        let parts = columns.compactMap { record[$0]?.key }
        guard parts.count == columns.count, !parts.isEmpty, parts.contains(where: { !$0.isEmpty }) else { return nil }
        // A longer key is a mistake, not a key.
        let key = parts.joined(separator: "/")
        return key.utf8.count <= 1_024 ? key : nil
    }

    private func draft(_ record: Record, at place: SourcePlace) throws(RowStop) -> LoginDraft {
        let row = try row(of: record)
        var draft = LoginDraft(place)
        draft.warnings = description.warnings
        let fields = FieldReader(row: row, context: context)
        try readTokens(fields, &draft)
        try readNames(fields, &draft)
        try readTimes(fields, &draft)
        try readExtras(fields, &draft)
        description.finish(&draft, row, context)
        return draft
    }

    private func follow(_ row: inout StoreRow) throws(RowStop) {
        for (link, table) in links {
            guard let value = row[link.from], value.key != nil else { continue }
            do throws(ImportError) {
                if let found = try container.find(value, in: table) {
                    row.add(link.part, found)
                    continue
                }
            } catch {
                throw .abort(error)
            }
            if let reason = link.missing { throw .reject(reason) }
        }
    }

    private func readNames(_ fields: FieldReader, _ draft: inout LoginDraft) throws(RowStop) {
        guard let user = try fields.text(description.user.paths(for: context.plan.userKey)) else {
            throw .reject(.noUser)
        }
        // A source names the user of a row but never the tenant, whose names begin with this byte.
        guard user.utf8.count <= 1_024, user.utf8.first != 0x1D else { throw .reject(.malformedUser) }
        let named = try fields.text(description.provider)
        guard let provider = named ?? context.plan.provider else { throw .reject(.noProvider) }
        if let given = context.plan.provider, given != provider { draft.warn(.providerOfRow) }
        draft.userKey = user
        draft.provider = provider
        draft.subject = try fields.text(description.subject)
        draft.label = try fields.text(description.label)
        guard let client = try fields.text(description.clientID) else { return }
        guard let clientID = try? ClientID(client) else { throw .reject(.malformedClient) }
        draft.clientID = clientID
    }

    private func readTokens(_ fields: FieldReader, _ draft: inout LoginDraft) throws(RowStop) {
        let refresh = try fields.token(description.refreshToken, description, &draft)
        let access = try fields.token(description.accessToken, description, &draft)
        for case .token(let text) in [refresh, access] {
            if Self.hasScheme(text) { throw .reject(.tokenWithScheme) }
            if Self.hasOddEnds(text) { draft.warn(.tokenWithOddEnds) }
        }
        if case .token(let text) = refresh {
            guard let token = try? RefreshToken(text) else { throw .reject(.malformedRefreshToken) }
            draft.refreshToken = token
        }
        if case .token(let text) = access {
            draft.accessToken = try? AccessToken(text)
            if draft.accessToken == nil {
                guard draft.refreshToken != nil else { throw .reject(.malformedAccessToken) }
                draft.warn(.accessTokenDropped)
            }
        }
        let hasPlaceholder = refresh == .placeholder || access == .placeholder
        if draft.accessToken == nil && draft.refreshToken == nil {
            throw .reject(hasPlaceholder ? .placeholderToken : .noToken)
        }
        if let token = draft.accessToken, token.reveal() == draft.refreshToken?.reveal() { throw .reject(.sameToken) }
        if hasPlaceholder { draft.warn(.placeholderDropped) }
        if let type = try fields.text(description.tokenType) {
            let type = TokenType(type)
            draft.tokenType = type
            if type != .bearer && type != .dpop { draft.warn(.unknownTokenType) }
        }
    }

    /// Whether a text is the value of a header field, or all of it.
    private static func hasScheme(_ text: String) -> Bool {
        let front = text.prefix(16).lowercased()
        return ["bearer ", "dpop ", "authorization:"].contains(where: front.hasPrefix)
    }

    /// Whether a token begins or ends with a space, or is in quotation marks. RFC 6749 Appendix A allows both.
    private static func hasOddEnds(_ text: String) -> Bool {
        text.hasPrefix(" ") || text.hasSuffix(" ")
            || text.utf8.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
    }

    private func readTimes(_ fields: FieldReader, _ draft: inout LoginDraft) throws(RowStop) {
        draft.expiresAt = fields.time(description.expiresAt, &draft)
        draft.refreshExpiresAt = fields.time(description.refreshExpiresAt, &draft)
        draft.obtainedAt = fields.time(description.obtainedAt, &draft)
    }

    private func readExtras(_ fields: FieldReader, _ draft: inout LoginDraft) throws(RowStop) {
        fields.readScope(description.scope, description.scopeSeparator, &draft)
        if let stored = try fields.text(description.idToken) {
            // A value that cannot be decrypted is not an id token, but no reason to stop.
            let text = context.decryptor == nil ? stored : context.decryptor?[stored] ?? ""
            draft.idToken = try? IDToken(text)
            let subject = IDTokenSubject.of(text)
            if draft.idToken == nil || subject == nil {
                draft.idToken = nil
                draft.warn(.idTokenDropped)
            } else if let own = draft.subject {
                if own != subject { draft.warn(.subjectDiffers) }
            } else {
                draft.subject = subject
                draft.isSubjectOfIDToken = true
            }
        }
        draft.dpopKey = try fields.key(description.dpopKey)
        for (name, path) in description.attributes {
            if let value = fields.row[path]?.text { draft.attributes[name] = value }
        }
    }
}

/// The subject of an id token. Nothing is verified: the token comes from the source, not from its issuer.
enum IDTokenSubject {
    static func of(_ token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
            case .string(let subject)? = (try? JSONObject(document: payload))?["sub"], !subject.isEmpty
        else { return nil }
        return subject
    }
}
