/// An endpoint of the catalogue, taken apart.
struct NangoAddress {
    /// How much a log-in must bring for it: the less, the better.
    enum Demand: Int, Comparable {
        case nothing, labels, host

        static func < (one: Demand, other: Demand) -> Bool { one.rawValue < other.rawValue }
    }

    private let labels: [NangoTemplate]
    /// Path and query.
    private let target: NangoTemplate
    /// The labels that variables take, from the left.
    private let open: Int

    /// Nil for what is not an https address, or has more than names of values in it.
    init?(_ template: NangoTemplate) {
        let scheme = "https://"
        guard !template.isUnknown, case .text(let first)? = template.parts.first, first.hasPrefix(scheme) else {
            return nil
        }
        var host: [NangoTemplate.Part] = []
        var target: [NangoTemplate.Part] = []
        var isHost = true
        for (number, part) in template.parts.enumerated() {
            guard case .text(var text) = part else {
                if isHost { host.append(part) } else { target.append(part) }
                continue
            }
            if number == 0 { text.removeFirst(scheme.count) }
            guard Self.isPlain(text) else { return nil }
            let end = isHost ? text.firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex : text.startIndex
            if end > text.startIndex { host.append(.text(String(text[..<end]))) }
            if end < text.endIndex {
                isHost = false
                target.append(.text(String(text[end...])))
            }
        }
        guard !host.isEmpty else { return nil }
        labels = NangoTemplate(host).split(at: ".")
        self.target = NangoTemplate(target)
        open = labels.lastIndex(where: \.hasValue).map { $0 + 1 } ?? 0
        let isHostText = host.allSatisfy { if case .text(let text) = $0 { Self.isHostText(text) } else { true } }
        guard labels.allSatisfy({ !$0.parts.isEmpty }), isHostText || open == 0 else { return nil }
    }

    /// A fixed domain has two labels at least.
    private var isAnyHost: Bool { open > 0 && labels.count - open < 2 }

    var demand: Demand {
        if isAnyHost { return .host }
        return open > 0 || target.hasValue ? .labels : .nothing
    }

    func written(_ variables: inout NangoVariables) throws(NangoObstacle) -> String {
        var written = "https://"
        let separable = labels[..<open].allSatisfy { $0.parts.count == 1 && $0.hasValue }
        if isAnyHost, labels.count == 1, separable, case .value(let value)? = labels[0].parts.first {
            written += "{\(try variables.name(of: value, for: .host))}"
        } else if isAnyHost || !separable {
            let count = isAnyHost ? labels.count : open
            let name = try variables.name(of: Self.joined(labels[..<count]), for: isAnyHost ? .host : .label)
            written += "{\(name)}"
            for label in labels[count...] { written += "." + Self.text(label) }
        } else {
            var texts: [String] = []
            for label in labels {
                if case .value(let value)? = label.parts.first {
                    texts.append("{\(try variables.name(of: value, for: .label))}")
                } else {
                    texts.append(Self.text(label))
                }
            }
            written += texts.joined(separator: ".")
        }
        for part in target.parts {
            switch part {
            case .text(let text): written += text
            case .value(let value): written += "{\(try variables.name(of: value, for: .path))}"
            case .unknown: continue
            }
        }
        return written
    }

    private static func text(_ label: NangoTemplate) -> String {
        label.parts.reduce(into: "") { text, part in if case .text(let more) = part { text += more } }
    }

    private static func joined(_ labels: ArraySlice<NangoTemplate>) -> NangoTemplate {
        var parts: [NangoTemplate.Part] = []
        for label in labels {
            if !parts.isEmpty { parts.append(.text(".")) }
            parts += label.parts
        }
        return NangoTemplate(parts)
    }

    private static func isHostText(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    /// RFC 3986 §2, without the fragment.
    private static func isPlain(_ text: String) -> Bool {
        let isEncoded = text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            $0.utf8.prefix(2).count == 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
        }
        return isEncoded && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"#<>\\^`{|}".utf8.contains($0) }
    }
}
