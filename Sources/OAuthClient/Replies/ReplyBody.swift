import HTTPTypes

/// The body of a reply, read by its actual content rather than its `Content-Type`.
struct ReplyBody {
    private enum Content {
        case empty, unreadable
        case json(JSONObject)
        case form([FormParameter])
    }

    private let content: Content

    private init(_ content: Content) {
        self.content = content
    }

    init(_ reply: HTTPReply, format: ReplyRules.BodyFormat) {
        guard reply.body.count <= ReplyRules.maximumBodyBytes else {
            self.init(.unreadable)
            return
        }
        guard !reply.body.allSatisfy(Self.isSpace) else {
            self.init(.empty)
            return
        }
        let isForm =
            reply.response.headerFields[.contentType]?.lowercased()
            .hasPrefix("application/x-www-form-urlencoded") ?? false
        switch format {
        case .json: self.init(Self.json(reply.body) ?? .unreadable)
        case .form: self.init(Self.form(reply.body) ?? .unreadable)
        case .automatic where isForm: self.init(Self.form(reply.body) ?? Self.json(reply.body) ?? .unreadable)
        case .automatic: self.init(Self.json(reply.body) ?? Self.form(reply.body) ?? .unreadable)
        }
    }

    var isEmpty: Bool { if case .empty = content { true } else { false } }

    /// Whether members can be looked up.
    var isReadable: Bool {
        switch content {
        case .empty, .unreadable: false
        case .json, .form: true
        }
    }

    /// The object at the end of `path`; unreadable if there is none.
    func entering(_ path: [String]) -> ReplyBody {
        var body = self
        for name in path {
            guard case .json(let object) = body.content, case .object(let inner)? = object[name] else {
                return ReplyBody(.unreadable)
            }
            body = ReplyBody(.json(inner))
        }
        return body
    }

    subscript(name: String) -> ReplyField {
        switch content {
        case .empty, .unreadable: .absent
        case .json(let object): object[name].map(ReplyField.init) ?? .absent
        case .form(let parameters): Self.field(parameters.filter { $0.name == name }.map(\.value))
        }
    }

    /// The values at a path: names separated by dots, with `[]` after the name of a list to select its elements, as in
    /// `errors[].errorType`. A member whose name is the whole path comes first.
    func fields(at path: String) -> [ReplyField] {
        guard case .json(let object) = content, object[path] == nil, path.contains(where: { $0 == "." || $0 == "[" })
        else { return [self[path]] }
        var values: [JSONValue] = [.object(object)]
        for part in path.split(separator: ".") {
            let isList = part.hasSuffix("[]")
            let name = String(isList ? part.dropLast(2) : part)
            values = values.flatMap { value -> [JSONValue] in
                guard case .object(let inner) = value, let found = inner[name] else { return [] }
                guard isList else { return [found] }
                if case .array(let elements) = found { return elements }
                return []
            }
        }
        return values.map { ReplyField($0) }
    }

    /// The text of a member that is an array.
    func array(_ name: String) -> String? {
        guard case .json(let object) = content, case .array? = object[name] else { return nil }
        return object.text(of: name)
    }

    private static func field(_ values: [String]) -> ReplyField {
        guard let first = values.first else { return .absent }
        guard values.allSatisfy({ $0 == first }) else { return .ambiguous }
        return first.isEmpty ? .absent : .text(first)
    }

    private static func json(_ bytes: [UInt8]) -> Content? {
        (try? JSONObject(document: bytes)).map { .json($0) }
    }

    private static func form(_ bytes: [UInt8]) -> Content? {
        let trimmed = bytes.drop(while: isSpace)
        let end = trimmed.lastIndex { !isSpace($0) } ?? trimmed.startIndex
        return FormCodec.decode(trimmed[...end]).map { .form($0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/// One member of a reply.
enum ReplyField {
    /// Missing, `null`, or an empty string.
    case absent
    case text(String)
    case number(String)
    case flag(Bool)
    case list([String])
    /// A value of a type that no member of a reply has.
    case other
    /// Repeated with different values.
    case ambiguous

    init(_ value: JSONValue) {
        switch value {
        case .null: self = .absent
        case .string(let text): self = text.isEmpty ? .absent : .text(text)
        case .number(let text): self = .number(text)
        case .bool(let flag): self = .flag(flag)
        case .object: self = .other
        case .ambiguous: self = .ambiguous
        case .array(let elements):
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element else {
                    self = .other
                    return
                }
                texts.append(text)
            }
            self = .list(texts)
        }
    }

    var isAbsent: Bool { if case .absent = self { true } else { false } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    /// A text, or the text of a number.
    var code: String? {
        switch self {
        case .text(let text), .number(let text): text
        default: nil
        }
    }
}
