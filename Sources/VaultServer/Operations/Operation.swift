import HTTPTypes
import OAuthClient
import TokenVault

/// One call of the interface: how it is reached, what it takes and gives, and what it does. The contract
/// (`/v1/openapi.json`) is made of the same values.
struct Operation: Sendable {
    let method: HTTPRequest.Method
    /// Such as `/v1/logins/{id}`.
    let path: String
    /// Its name in the contract.
    let id: String
    let summary: String
    /// What the policy must allow; nil: every client of the policy may.
    let verb: PolicyClient.Verb?
    var query: [Field] = []
    /// The members of its body; nil: it takes none.
    var body: [Field]?
    /// The members of the answer with status 200; nil: an answer without a body, or of another type.
    var answer: [Field]?
    /// The type of an answer that is not JSON.
    var contentType: String?
    var status: HTTPResponse.Status = .ok
    /// The codes of problems that only it has.
    let handle: @Sendable (Call) async throws -> Reply

    /// The operations whose paths have no parameters.
    static let byPath = Dictionary(grouping: all.filter { !$0.path.contains("{") }) { Substring($0.path) }

    /// Those whose paths have parameters, with what stands for them in this one.
    static func matching(_ path: Substring) -> [(operation: Operation, parameters: [String: String])] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return all.compactMap { operation in operation.parameters(in: parts).map { (operation, $0) } }
    }

    /// What stands for each parameter of the path; nil: this is another path.
    private func parameters(in path: [Substring]) -> [String: String]? {
        let parts = self.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == path.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, given) in zip(parts, path) {
            if part.hasPrefix("{") {
                guard !given.isEmpty else { return nil }
                parameters[String(part.dropFirst().dropLast())] = String(given)
            } else if part != given {
                return nil
            }
        }
        return parameters
    }

    /// A member of a body or an answer, or a parameter of a query.
    struct Field: Sendable {
        indirect enum Kind: Sendable {
            case text(longest: Int)
            case words([String])
            case seconds(most: Int = 1_000_000_000)
            case number
            case flag
            /// A short text for each name.
            case texts
            case list(Kind)
            case object([Field])
        }

        let name: String
        let kind: Kind
        let words: String
        var isRequired = false

        init(_ name: String, _ kind: Kind, _ words: String, isRequired: Bool = false) {
            self.name = name
            self.kind = kind
            self.words = words
            self.isRequired = isRequired
        }

        static func required(_ name: String, _ kind: Kind, _ words: String) -> Field {
            Field(name, kind, words, isRequired: true)
        }
    }
}

/// A request to an operation, whose parts are as the operation declares them.
struct Call: Sendable {
    let vault: ServedVault
    let client: PolicyClient
    let connection: Connection
    let parameters: [String: String]
    let values: Values
    /// `Last-Event-ID`.
    var lastEventID: String?

    /// The members of a body, or the parameters of a query, that are there.
    struct Values: Sendable {
        fileprivate enum Value {
            case text(String)
            case number(Double)
            case flag(Bool)
            case texts([String: String])
        }

        // A few: they are found sooner by looking at each.
        fileprivate var all: [(name: String, value: Value)] = []

        fileprivate subscript(_ name: String) -> Value? { all.first { $0.name == name }?.value }

        func text(_ name: String) -> String? {
            guard case .text(let text)? = self[name] else { return nil }
            return text
        }

        func number(_ name: String) -> Double? {
            guard case .number(let number)? = self[name] else { return nil }
            return number
        }

        func flag(_ name: String) -> Bool? {
            guard case .flag(let flag)? = self[name] else { return nil }
            return flag
        }

        func texts(_ name: String) -> [String: String]? {
            guard case .texts(let texts)? = self[name] else { return nil }
            return texts
        }
    }
}

extension Call.Values {
    /// The members of a body. Nothing that the operation does not know is passed over: a member that is spelt wrongly
    /// would otherwise have no effect, and nobody would know.
    init(body bytes: [UInt8], _ fields: [Operation.Field]) throws(Problem) {
        let object: JSONObject
        do throws(JSONError) { object = try JSONObject(document: bytes) } catch {
            throw .invalid("the body is not a JSON object", hint: #"for example: {"user": "alice"}"#)
        }
        for name in object.names where !fields.contains(where: { $0.name == name }) {
            throw .invalid(
                "the body has a member that is not known here: \(name.prefix(64))",
                hint: "known are: \(Self.names(fields))")
        }
        for field in fields {
            guard let value = object[field.name] else {
                if field.isRequired { throw .invalid("the body has no \(field.name)") }
                continue
            }
            try take(value, field)
        }
    }

    private mutating func take(_ value: JSONValue, _ field: Operation.Field) throws(Problem) {
        switch (field.kind, value) {
        case (_, .ambiguous): throw .invalid("\(field.name) is there twice")
        case (.text, .string(let text)), (.words, .string(let text)): try take(text, field)
        case (.seconds(let most), .number(let text)): try take(text, upTo: most, field)
        case (.number, .number(let text)):
            try take(text, upTo: 1_000_000_000, field)
            guard Double(text)?.rounded() == Double(text) else { throw .invalid("\(field.name) is not a whole number") }
        case (.flag, .bool(let flag)): all.append((field.name, .flag(flag)))
        case (.texts, .object(let object)):
            var texts: [String: String] = [:]
            for name in object.names {
                guard case .string(let text)? = object[name] else {
                    throw .invalid("\(field.name) has a member that is no text")
                }
                texts[name] = text
            }
            all.append((field.name, .texts(texts)))
        default: throw .invalid("\(field.name) is not \(field.kind.noun)")
        }
    }

    private mutating func take(_ text: String, upTo most: Int, _ field: Operation.Field) throws(Problem) {
        guard let number = Double(text), (0...Double(most)).contains(number) else {
            throw .invalid("\(field.name) is not between 0 and \(most)")
        }
        all.append((field.name, .number(number)))
    }

    private mutating func take(_ text: String, _ field: Operation.Field) throws(Problem) {
        switch field.kind {
        case .text(let longest):
            guard !text.isEmpty else {
                throw .invalid("\(field.name) is empty", hint: "check that its variable is set, or leave it out")
            }
            guard text.utf8.count <= longest else { throw .invalid("\(field.name) is longer than \(longest) bytes") }
        case .words(let words):
            guard words.contains(text) else {
                throw .invalid("\(field.name) is none of: \(words.joined(separator: ", "))")
            }
        default: break
        }
        all.append((field.name, .text(text)))
    }

    /// The parameters of a query.
    init(query: String, _ fields: [Operation.Field]) throws(Problem) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw .invalid("the query is not percent-encoded UTF-8")
            }
            guard let field = fields.first(where: { $0.name == name }) else {
                throw .invalid(
                    "the query has a parameter that is not known here: \(name.prefix(64))",
                    hint: fields.isEmpty ? nil : "known are: \(Self.names(fields))")
            }
            guard self[name] == nil else { throw .invalid("\(name) is there twice") }
            if case .number = field.kind {
                guard let number = UInt32(value) else { throw .invalid("\(name) is not a number") }
                all.append((name, .number(Double(number))))
            } else {
                try take(value, field)
            }
        }
        for field in fields where field.isRequired && text(field.name) == nil {
            throw .invalid("the query has no \(field.name)")
        }
    }

    /// Nil if it is not percent-encoded UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let digits = String(rest.prefix(2)), digits.utf8.count == 2,
                    digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
                    let value = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func names(_ fields: [Operation.Field]) -> String { fields.map(\.name).joined(separator: ", ") }
}

/// Reads bodies of requests, for proofs about whatever bytes come.
package enum RequestReading {
    /// The operations that have a body.
    package static let operations = Operation.all.filter { $0.body != nil }.map(\.id)

    /// The texts of a body; nil if the operation refuses it.
    package static func texts(in body: [UInt8], of id: String) -> [String: String]? {
        guard let fields = Operation.all.first(where: { $0.id == id })?.body else { return nil }
        guard let values = try? Call.Values(body: body, fields) else { return nil }
        return Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in values.text(field.name).map { (field.name, $0) } })
    }
}

extension Operation.Field.Kind {
    /// With its article.
    fileprivate var noun: String {
        switch self {
        case .text, .words: "a text"
        case .seconds: "a number of seconds"
        case .number: "a number"
        case .flag: "true or false"
        case .texts, .object: "an object"
        case .list: "a list"
        }
    }
}
