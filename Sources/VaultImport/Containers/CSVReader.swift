/// The records of a CSV file.
final class CSVReader {
    enum Item {
        /// The line on which the record begins, and its fields.
        case fields(Int, [String])
        case fault(Int, RejectReason)
    }

    private let stream: ByteStream
    private let longest: Int

    init(_ stream: ByteStream, longest: Int) {
        self.stream = stream
        self.longest = longest
        stream.skipByteOrderMark()
    }

    /// Nil at the end. Lines without anything are no records.
    func next() throws(ImportError) -> Item? {
        while stream.peek() != nil {
            var record = CSVRecord(line: stream.line, longest: longest)
            while !record.isComplete { record.take(stream.next()) }
            if !record.isBlank { return record.item }
        }
        try stream.check()
        return nil
    }
}

/// One record while it is read.
private struct CSVRecord {
    private enum State { case fieldStart, plain, quoted, quoteInQuoted, carriageReturn }

    private let line: Int
    private let longest: Int
    private var state = State.fieldStart
    private var field: [UInt8] = []
    private var fields: [[UInt8]] = []
    private var byteCount = 0
    private var fault: RejectReason?
    private var hasQuotes = false
    private(set) var isComplete = false

    init(line: Int, longest: Int) {
        self.line = line
        self.longest = longest
    }

    var isBlank: Bool { fault == nil && !hasQuotes && fields.count == 1 && fields[0].isEmpty }

    var item: CSVReader.Item {
        if let fault { return .fault(line, fault) }
        var texts: [String] = []
        texts.reserveCapacity(fields.count)
        for field in fields {
            guard let text = String(validating: field, as: UTF8.self) else { return .fault(line, .notUTF8) }
            texts.append(text)
        }
        return .fields(line, texts)
    }

    /// Nil is the end of the file.
    mutating func take(_ byte: UInt8?) {
        guard let byte else { return end() }
        byteCount += 1
        if byteCount > longest { fault = .tooLong }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
        case (.quoted, _): append(byte)
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            append(byte)
            state = .quoted
        case (.carriageReturn, 0x0A): finish()
        case (.carriageReturn, _):
            // Alone, it is data.
            append(0x0D)
            state = .plain
            take(byte)
            byteCount -= 1
        case (_, 0x0D): state = .carriageReturn
        case (_, 0x0A): finish()
        case (_, UInt8(ascii: ",")): endField()
        case (.fieldStart, UInt8(ascii: "\"")):
            hasQuotes = true
            state = .quoted
        case (.fieldStart, _):
            append(byte)
            state = .plain
        case (.plain, UInt8(ascii: "\"")), (.quoteInQuoted, _): fault = fault ?? .malformedQuoting
        case (.plain, _): append(byte)
        }
    }

    private mutating func append(_ byte: UInt8) {
        if fault == nil { field.append(byte) }
    }

    private mutating func endField() {
        if fault == nil { fields.append(field) }
        field = []
        state = .fieldStart
    }

    private mutating func finish() {
        endField()
        isComplete = true
    }

    private mutating func end() {
        if state == .quoted { fault = fault ?? .malformedQuoting }
        finish()
    }
}
