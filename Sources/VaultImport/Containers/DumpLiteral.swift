import OAuthClient

/// The values of a row in an `INSERT`.
extension DumpLexer {
    /// A tuple after its opening parenthesis. Fails if it exceeds the length of a record, or contains something other
    /// than literals; the tuple has then been skipped.
    func tuple() -> Result<[RawValue], RowFault> {
        var values: [RawValue] = []
        var budget = longest
        var fault: RejectReason?
        repeat {
            let value = literal(&budget)
            if let value { values.append(value) } else { fault = budget < 0 ? .tooLong : .unsupportedLiteral }
            if fault != nil || values.count > 2_000 { return skipTuple(fault ?? .wrongColumnCount) }
            skipCast()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: ")")) else { return skipTuple(.unsupportedLiteral) }
        return .success(values)
    }

    struct RowFault: Error { let reason: RejectReason }

    private func skipTuple(_ reason: RejectReason) -> Result<[RawValue], RowFault> {
        var depth = 1
        while depth > 0, let byte = stream.next() {
            switch byte {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: skipRest(of: byte)
            }
        }
        return .failure(RowFault(reason: reason))
    }

    /// Nil if it is not a literal; a negative budget means that it is too long.
    private func literal(_ budget: inout Int) -> RawValue? {
        skipBlank()
        guard let first = stream.peek() else { return nil }
        switch first {
        case UInt8(ascii: "'"): return string(escapes: isMySQL, &budget).map(Self.text)
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return number(&budget)
        default: return prefixed(word(), &budget)
        }
    }

    private func prefixed(_ word: String, _ budget: inout Int) -> RawValue? {
        switch word.uppercased() {
        case "NULL": return .null
        case "TRUE": return .bool(true)
        case "FALSE": return .bool(false)
        case "X" where stream.peek() == UInt8(ascii: "'"):
            return string(escapes: false, &budget).flatMap { Hex.decode($0) }.map { .bytes($0) }
        case "E" where stream.peek() == UInt8(ascii: "'"): return string(escapes: true, &budget).map(Self.text)
        case "N" where stream.peek() == UInt8(ascii: "'"): return string(escapes: isMySQL, &budget).map(Self.text)
        case let introducer where introducer.hasPrefix("_"):
            skipBlank()
            guard stream.peek() == UInt8(ascii: "'") else { return nil }
            let bytes = string(escapes: isMySQL, &budget)
            return introducer == "_BINARY" ? bytes.map { .bytes($0) } : bytes.map(Self.text)
        default: return nil
        }
    }

    private static func text(_ bytes: [UInt8]) -> RawValue {
        String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .bytes(bytes)
    }

    private func string(escapes: Bool, _ budget: inout Int) -> [UInt8]? {
        _ = stream.next()
        var bytes: [UInt8] = []
        while let byte = stream.next() {
            budget -= 1
            if byte == UInt8(ascii: "'") {
                guard stream.peek() == byte else { return budget < 0 ? nil : bytes }
                _ = stream.next()
            } else if escapes, byte == UInt8(ascii: "\\") {
                guard let escaped = stream.next() else { return nil }
                if budget >= 0 { bytes.append(Self.unescaped(escaped)) }
                continue
            }
            if budget >= 0 { bytes.append(byte) }
        }
        return nil
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0"): 0x00
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "Z"): 0x1A
        default: byte
        }
    }

    private func number(_ budget: inout Int) -> RawValue? {
        var bytes: [UInt8] = []
        while let byte = stream.peek(), Self.isNumberByte(byte), bytes.count < 64 {
            bytes.append(byte)
            _ = stream.next()
        }
        budget -= bytes.count
        let text = String(decoding: bytes, as: UTF8.self)
        if text == "0", stream.peek() == UInt8(ascii: "x") { return hexadecimal(&budget) }
        if let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(text)
    }

    /// MySQL's `0x…`, after its zero.
    private func hexadecimal(_ budget: inout Int) -> RawValue? {
        _ = stream.next()
        var digits: [UInt8] = []
        while let byte = stream.peek(), Hex.value(byte) != nil {
            budget -= 1
            if budget >= 0 { digits.append(byte) }
            _ = stream.next()
        }
        return budget < 0 ? nil : Hex.decode(digits).map { .bytes($0) }
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// Skips PostgreSQL's `::type`, which does not change the value.
    private func skipCast() {
        skipBlank()
        while stream.peek() == UInt8(ascii: ":") {
            _ = stream.next()
            guard stream.next() == UInt8(ascii: ":") else { return }
            _ = qualifiedName()
            if word().uppercased() == "VARYING" || stream.peek() == UInt8(ascii: "(") {
                _ = nameList()
            }
        }
    }
}
