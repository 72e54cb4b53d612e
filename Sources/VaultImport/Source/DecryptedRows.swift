/// The rows of a table, whose tokens are decrypted a batch at a time.
final class DecryptedRows {
    private let logins: LoginReader
    private let cursor: any RecordCursor
    private let decryptor: TokenDecryptor
    /// In reverse order.
    private var rows: [SourceRow] = []
    /// A cursor is not called again after its end: some would start over.
    private var isAtEnd = false

    init(_ logins: LoginReader, _ cursor: any RecordCursor, _ decryptor: TokenDecryptor) {
        self.logins = logins
        self.cursor = cursor
        self.decryptor = decryptor
    }

    var progress: Double? { cursor.progress }

    func next() throws(ImportError) -> SourceRow? {
        if rows.isEmpty, !isAtEnd { try fill() }
        return rows.popLast()
    }

    private func fill() throws(ImportError) {
        var readings: [RecordReading] = []
        while readings.count < TokenDecryptor.batchRows, !isAtEnd {
            if let reading = try cursor.next() { readings.append(reading) } else { isAtEnd = true }
        }
        var values: Set<String> = []
        for reading in readings { values.formUnion(logins.storedTokens(reading)) }
        try decryptor.open(values)
        for reading in readings { rows.append(try logins.row(reading)) }
        rows.reverse()
        if isAtEnd { try decryptor.finish() }
    }
}
