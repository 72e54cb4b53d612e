import FoundationEssentials

/// One block of a PEM file (RFC 7468).
struct PEMBlock {
    let label: String
    /// Including its boundaries.
    let text: String
    /// Nil if the text between the boundaries is not base64.
    var bytes: [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).dropFirst().dropLast()
        return Data(base64Encoded: lines.map { $0.trimmed }.joined()).map { [UInt8]($0) }
    }

    /// All blocks, in order. Text between them, which OpenSSL writes, is skipped.
    static func all(in text: String) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var lines: [Substring] = []
        var label: Substring?
        for line in text.split(whereSeparator: \.isNewline).map(\.trimmed) {
            if let begun = line.between("-----BEGIN ") {
                (label, lines) = (begun, [line])
            } else if let open = label {
                lines.append(line)
                guard line.between("-----END ") == open else { continue }
                blocks.append(PEMBlock(label: String(open), text: lines.joined(separator: "\n")))
                label = nil
            }
        }
        return blocks
    }

    static func text(_ label: String, _ bytes: [UInt8]) -> String {
        var lines: [String] = []
        var rest = Data(bytes).base64EncodedString()[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    /// The text between this prefix and five dashes; nil for any other line.
    fileprivate func between(_ start: String) -> Substring? {
        guard hasPrefix(start), hasSuffix("-----"), count > start.count + 5 else { return nil }
        return dropFirst(start.count).dropLast(5)
    }
}
