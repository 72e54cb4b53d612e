import FoundationEssentials

/// One block of a PEM file (RFC 7468).
struct PEMBlock {
    let label: String
    /// With its boundaries.
    let text: String
    /// Nil if what is between the boundaries is no base64.
    var bytes: [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).dropFirst().dropLast()
        return Data(base64Encoded: lines.map { $0.trimmed }.joined()).map { [UInt8]($0) }
    }

    /// All blocks, in order. What stands between them is passed over, as OpenSSL writes it.
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

    /// What is between this and five dashes; nil if the line is another.
    fileprivate func between(_ start: String) -> Substring? {
        guard hasPrefix(start), hasSuffix("-----"), count > start.count + 5 else { return nil }
        return dropFirst(start.count).dropLast(5)
    }
}
