/// The records of a CSV file.
final class CSVReader {
    enum Item {
        /// The line where the record begins, and its fields. Nil is a missing value, in files that have a notation for
        /// it.
        case fields(Int, [String?])
        case fault(Int, RejectReason)
    }

    private let stream: ByteStream
    private let longest: Int
    private let dialect: CSVDialect
    var progress: Double? { stream.progress }

    init(_ stream: ByteStream, longest: Int, _ dialect: CSVDialect) {
        self.stream = stream
        self.longest = longest
        self.dialect = dialect
        stream.skipByteOrderMark()
        if dialect.hasSeparatorLine { _ = stream.nextLine(longest: longest) }
    }

    /// Nil at the end. Empty lines are not records.
    func next() throws(ImportError) -> Item? {
        while stream.peek() != nil {
            var record = CSVRecord(line: stream.line, longest: longest, dialect)
            while !record.isComplete {
                let byte = stream.next()
                // What a failure cuts is no record.
                if byte == nil { try stream.check() }
                record.take(byte)
            }
            if !record.isBlank { return record.item }
        }
        try stream.check()
        return nil
    }
}

/// One record while it is being read.
private struct CSVRecord {
    private enum State { case fieldStart, plain, escape, quoted, quoteInQuoted, carriageReturn }

    private let line: Int
    private let longest: Int
    private let separator: UInt8
    private let isEscaped: Bool
    private var state = State.fieldStart
    private var field: [UInt8] = []
    private var isNull = false
    private var isQuoted = false
    private var fields: [[UInt8]?] = []
    private var byteCount = 0
    private var fault: RejectReason?
    private var hasQuotes = false
    private(set) var isComplete = false

    init(line: Int, longest: Int, _ dialect: CSVDialect) {
        self.line = line
        self.longest = longest
        separator = dialect.separator.byte
        isEscaped = dialect.isEscaped
    }

    var isBlank: Bool { fault == nil && !hasQuotes && fields.count == 1 && fields[0]?.isEmpty == true }

    var item: CSVReader.Item {
        if let fault { return .fault(line, fault) }
        var texts: [String?] = []
        texts.reserveCapacity(fields.count)
        for field in fields {
            guard let field else {
                texts.append(nil)
                continue
            }
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
            // A lone carriage return is data.
            append(0x0D)
            state = .plain
            take(byte)
            byteCount -= 1
        case (.escape, _):
            unescape(byte)
            state = .plain
        case (_, 0x0D): state = .carriageReturn
        case (_, 0x0A): finish()
        case (_, separator): endField()
        case (.fieldStart, UInt8(ascii: "\\")) where isEscaped, (.plain, UInt8(ascii: "\\")) where isEscaped:
            state = .escape
        case (.fieldStart, UInt8(ascii: "\"")):
            (hasQuotes, isQuoted) = (true, true)
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

    /// A field of just `\N` is a missing value.
    private mutating func unescape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "t"): append(0x09)
        case UInt8(ascii: "n"): append(0x0A)
        case UInt8(ascii: "r"): append(0x0D)
        case UInt8(ascii: "b"): append(0x08)
        case UInt8(ascii: "0"): append(0x00)
        case UInt8(ascii: "N") where field.isEmpty:
            isNull = true
            append(byte)
        default: append(byte)
        }
    }

    private mutating func endField() {
        let isWord = isEscaped && !isQuoted && field.elementsEqual("NULL".utf8)
        let isNothing = isWord || isNull && field.count == 1
        if fault == nil { fields.append(isNothing ? nil : field) }
        field = []
        (isNull, isQuoted) = (false, false)
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
