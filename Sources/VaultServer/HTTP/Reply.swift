import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OAuthClient

/// The answer to a request.
struct Reply: Sendable {
    enum Body: Sendable {
        case text(String)
        /// Written while it lasts. The closure returns when the client has gone, or the server stops.
        case stream(@concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void)
    }

    var status: HTTPResponse.Status
    var contentType: String
    var body: Body
    var fields: HTTPFields = [:]
    /// Whether the connection ends with it: then what the client still sends is not read.
    var closes = false

    init(_ status: HTTPResponse.Status, _ contentType: String, _ body: Body) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    static func json(_ members: JSONMembers, _ status: HTTPResponse.Status = .ok) -> Reply {
        Reply(status, "application/json", .text(members.text + "\n"))
    }

    /// An empty answer.
    static let noContent = Reply(.noContent, "", .text(""))

    var head: HTTPResponse {
        // As a literal: each field that is added to others later costs more than all of these.
        var head: HTTPFields =
            if case .text(let text) = body, status != .noContent {
                [.contentType: contentType, .cacheControl: "no-store", .contentLength: String(text.utf8.count)]
            } else if contentType.isEmpty {
                [.cacheControl: "no-store"]
            } else {
                [.contentType: contentType, .cacheControl: "no-store"]
            }
        if closes { head[.connection] = "close" }
        for field in fields { head.append(field) }
        return HTTPResponse(status: status, headerFields: head)
    }
}

/// Members of a JSON object, in order. A nil is left out.
struct JSONMembers: Sendable {
    private var members = ""

    private mutating func begin(_ name: String) {
        members += members.isEmpty ? "{" : ","
        JSONText.append(name, to: &members)
        members += ":"
    }

    mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        begin(name)
        JSONText.append(text, to: &members)
    }

    mutating func add(_ name: String, _ number: Int?) {
        guard let number else { return }
        begin(name)
        members += String(number)
    }

    mutating func add(_ name: String, _ flag: Bool) {
        begin(name)
        members += flag ? "true" : "false"
    }

    mutating func add(_ name: String, _ texts: [String]) {
        begin(name)
        members += "[" + texts.map(JSONText.quote).joined(separator: ",") + "]"
    }

    mutating func add(_ name: String, _ objects: [JSONMembers]) {
        begin(name)
        members += "[" + objects.map(\.text).joined(separator: ",") + "]"
    }

    mutating func add(_ name: String, _ object: JSONMembers?) {
        guard let object else { return }
        begin(name)
        members += object.text
    }

    mutating func add(_ name: String, _ texts: [String: String]) {
        var object = JSONMembers()
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { object.add(name, text) }
        add(name, object)
    }

    /// Whole seconds since 1970, as OAuth libraries write `expires_at`. Rounded down: never later than it is.
    mutating func add(_ name: String, _ date: Date?) {
        add(name, date.map { Int($0.timeIntervalSince1970.rounded(.down)) })
    }

    var text: String { members.isEmpty ? "{}" : members + "}" }
}
