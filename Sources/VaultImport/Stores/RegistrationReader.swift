import OAuthClient

/// Makes client registrations from a store's rows.
struct RegistrationReader {
    let description: StoreRegistrations
    let context: StoreContext
    let table: TableShape

    func row(_ reading: RecordReading) throws(ImportError) -> SourceRow {
        switch reading {
        case .fault(let row, let reason):
            return .reject(SourceReject(SourcePlace(row: row, table: table.name), reason))
        case .record(let record):
            let place = SourcePlace(row: record.row, table: table.name, key: record["id"]?.key)
            do throws(RowStop) {
                return .registration(try registration(record, place))
            } catch {
                switch error {
                case .reject(let reason): return .reject(SourceReject(place, reason))
                case .abort(let error): throw error
                }
            }
        }
    }

    private func registration(_ record: Record, _ place: SourcePlace) throws(RowStop) -> SourceRegistration {
        var row = StoreRow(record)
        try description.prepare(&row, context)
        let fields = FieldReader(row: row, context: context)
        // An empty name, which allauth stores for providers with a single instance, counts as missing.
        var name: String?
        for path in description.provider where name == nil { name = try fields.text([path]) }
        guard let name else { throw .reject(.noProvider) }
        guard let client = try fields.text(description.clientID), let clientID = try? ClientID(client) else {
            throw .reject(.malformedClient)
        }
        var secret: ClientSecret?
        if let text = try fields.text(description.clientSecret) {
            guard let read = try? ClientSecret(text) else { throw .reject(.malformedClient) }
            secret = read
        }
        let scope = try fields.text(description.scope).flatMap { try? Scope($0, separator: ",") }
        return SourceRegistration(
            place: place, provider: name, providerKind: try fields.text(description.providerKind), clientID: clientID,
            clientSecret: secret, scope: scope)
    }
}
