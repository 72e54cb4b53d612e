/// The variables of one profile, collected while its addresses and parameters are written.
struct NangoVariables {
    /// What a value may be: the strictest use counts.
    enum Use: Int, Comparable {
        case parameter, path, label, host

        static func < (one: Use, other: Use) -> Bool { one.rawValue < other.rawValue }
    }

    struct Variable {
        let name: String
        var use: Use
        var says: String
        var example: String
        var pattern: String
    }

    static let most = 8
    private static let label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

    private let provider: NangoProvider
    private(set) var list: [Variable] = []
    /// By what they stand for, because one template is one variable wherever it occurs.
    private var indices: [NangoTemplate: Int] = [:]

    init(of provider: NangoProvider) { self.provider = provider }

    /// The name of the variable for one value of the catalogue.
    mutating func name(of value: String, for use: Use) throws(NangoObstacle) -> String {
        try refuseSecret(value)
        let template = NangoTemplate([.value(value)])
        if let index = indices[template] {
            if use > list[index].use { describe(index, value, use) }
            return list[index].name
        }
        add(template, named: value, use)
        describe(list.count - 1, value, use)
        return list[list.count - 1].name
    }

    /// The name of the variable for labels of a host that are fixed only in part.
    mutating func name(of labels: NangoTemplate, for use: Use) throws(NangoObstacle) -> String {
        if let index = indices[labels] { return list[index].name }
        var (name, pattern, example, shape) = ("", "", "", "")
        for part in labels.parts {
            switch part {
            case .text(let text):
                name += text
                pattern += text.replacing(".", with: "\\.")
                example += text
                shape += text
            case .value(let value):
                try refuseSecret(value)
                name += "_" + value + "_"
                pattern += "(?:\(choice(value) ?? Self.label + "(?:\\.\(Self.label))*"))"
                example += choices(value).first ?? "example"
                shape += Self.words(value).uppercased().replacing(" ", with: "_")
            case .unknown: throw .template(provider.name)
            }
        }
        add(labels, named: name, use)
        let index = list.count - 1
        list[index].pattern = pattern
        list[index].example = example
        list[index].says =
            use == .host
            ? "the host, such as \(shape); the operator allows each one" : "the part of the host that is \(shape)"
        return list[index].name
    }

    private func refuseSecret(_ value: String) throws(NangoObstacle) {
        let noun = Self.words(value).split(separator: " ").last ?? ""
        let isNamedSo = ["password", "secret", "passphrase", "token", "key"].contains(noun)
        guard !isNamedSo, provider.setting(value)?["secret"]?.isTrue != true else { throw .secretVariable(value) }
    }

    private mutating func add(_ template: NangoTemplate, named text: String, _ use: Use) {
        var name = String(decoding: text.utf8.map { Self.isNameByte($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        name = name.split(separator: "_").joined(separator: "_")
        name = String(name.prefix(28))
        // The one name that profiles have taken already.
        if name == "client_id" || name.isEmpty { name = name.isEmpty ? "value" : "client" }
        let first = name
        var number = 2
        while list.contains(where: { $0.name == name }) {
            name = "\(first)_\(number)"
            number += 1
        }
        indices[template] = list.count
        list.append(Variable(name: name, use: use, says: "", example: "", pattern: ""))
    }

    private mutating func describe(_ index: Int, _ value: String, _ use: Use) {
        let words = Self.words(value)
        list[index].use = use
        list[index].example = choices(value).first ?? (use == .host ? "login.example.com" : "example")
        switch use {
        case .parameter:
            list[index].says = "the \(words), which goes with requests"
            list[index].pattern = "[!-~](?:[ -~]{0,250}[!-~])?"
        case .path:
            list[index].says = "the \(words), a part of the provider's addresses"
            list[index].pattern = "[A-Za-z0-9][A-Za-z0-9._~@-]{0,251}"
        case .label:
            list[index].says = "the \(words), which begins the provider's host name"
            list[index].pattern = Self.label
        case .host:
            list[index].says = "the provider's host (\(words)); the operator allows each one"
            list[index].pattern = "\(Self.label)(?:\\.\(Self.label))+"
        }
        if let choice = choice(value) { list[index].pattern = choice }
    }

    /// The values that the catalogue lists, if all are parts of host names.
    private func choices(_ value: String) -> [String] {
        let values = (provider.setting(value)?["enum"]?.list ?? []).compactMap(\.text)
        let areLabels = values.allSatisfy { value in
            !value.isEmpty && value.utf8.allSatisfy { Self.isNameByte($0) || "-.".utf8.contains($0) }
        }
        return areLabels && values.count <= 32 ? values : []
    }

    private func choice(_ value: String) -> String? {
        let values = choices(value)
        guard !values.isEmpty else { return nil }
        return values.map { $0.replacing(".", with: "\\.") }.joined(separator: "|")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// `tenantId` and `tenant_id` are *tenant id*.
    static func words(_ name: String) -> String {
        var words = ""
        var wasLower = false
        for byte in name.utf8 {
            let isCapital = (0x41...0x5A).contains(byte)
            if isCapital && wasLower { words += " " }
            let isLetter = isNameByte(byte) && byte != UInt8(ascii: "_")
            words += isLetter ? String(UnicodeScalar(isCapital ? byte | 0x20 : byte)) : " "
            wasLower = !isCapital
        }
        return words.split(separator: " ").joined(separator: " ")
    }
}
