/// A scripted misbehaviour: which requests it meets, whether the server acts on them, and what the client sees.
///
/// ```swift
/// server.faults.add(.status(500, afterActing: true).for(user: "alice"))   // rotates, then fails
/// server.faults.add(.drop(afterActing: true))                              // rotates, and the reply is lost
/// server.faults.add(.throttled(retryAfter: "3").times(2))
/// ```
public struct Fault: Sendable, Equatable {
    /// How the exchange ends.
    public enum Ending: String, Sendable, CaseIterable {
        /// With a complete reply.
        case reply
        /// The connection is closed before a byte of the reply.
        case close
        /// The connection is reset before a byte of the reply.
        case reset
        /// Headers that promise the whole body, `bodyBytes` of it, then an orderly close.
        case closeBody = "close_body"
        /// As `closeBody`, with a reset.
        case resetBody = "reset_body"
        /// Nothing comes, and the connection stays open until the client goes or the server stops.
        case hang
    }

    /// Shown in the request log.
    public var name: String
    /// Path that it waits for; `nil` is every path.
    public var path: String? = "/token"
    public var grantType: String?
    public var user: String?
    public var client: String?
    /// Matching requests that pass before it begins.
    public var skip = 0
    /// Requests that it meets; 0 is without end.
    public var times = 1

    /// Whether the request takes effect (codes spent, tokens rotated) although the client sees something else.
    public var acts: Bool
    public var delay: Duration = .zero
    /// Between acting and replying.
    public var replyDelay: Duration = .zero
    /// Replaces the real reply by an empty one with this status.
    public var status: Int?
    /// Set on the reply, or taken from it where `nil`.
    public var headers: [String: String?] = [:]
    /// Replaces the body.
    public var body: String?
    /// Members set in a JSON body, or taken out of it where `nil`.
    public var members: [String: JSONValue?] = [:]
    /// Replies `use_dpop_nonce` with a fresh nonce that is good for one request.
    public var challengesForNonce = false
    public var ending = Ending.reply
    /// For `closeBody` and `resetBody`.
    public var bodyBytes = 0

    public init(name: String, acts: Bool) {
        self.name = name
        self.acts = acts
    }

    /// Whether the client sees the server's own reply, possibly changed.
    var keepsReply: Bool { status == nil && body == nil && !challengesForNonce }

    func matches(_ record: RequestRecord) -> Bool {
        (path == nil || path == record.path) && (grantType == nil || grantType == record.grantType)
            && (user == nil || user == record.user) && (client == nil || client == record.client)
    }
}

extension Fault {
    public static func status(
        _ status: Int, headers: [String: String?] = [:], body: String = "", afterActing: Bool = false
    ) -> Fault {
        var fault = Fault(name: "status \(status)", acts: afterActing)
        fault.status = status
        fault.headers = headers
        fault.body = body
        return fault
    }

    /// 429 with `Retry-After` as given: seconds or a date.
    public static func throttled(retryAfter: String) -> Fault {
        .status(429, headers: ["Retry-After": retryAfter])
    }

    /// A well-formed OAuth error that the server did not come to by itself.
    public static func error(_ code: String, status: Int = 400, afterActing: Bool = false) -> Fault {
        .status(
            status, headers: ["Content-Type": "application/json"], body: "{\"error\":\"\(code)\"}",
            afterActing: afterActing)
    }

    public static func drop(afterActing: Bool = false) -> Fault { .ending(.close, afterActing: afterActing) }

    public static func reset(afterActing: Bool = false) -> Fault { .ending(.reset, afterActing: afterActing) }

    public static func hang(afterActing: Bool = false) -> Fault { .ending(.hang, afterActing: afterActing) }

    /// The real reply, cut after `bytes` of its body.
    public static func cutBody(after bytes: Int, reset: Bool = false) -> Fault {
        var fault = Fault.ending(reset ? .resetBody : .closeBody, afterActing: true)
        fault.bodyBytes = bytes
        return fault
    }

    /// The real reply, late: by default the request waits first, so a client that gives up may still have been served.
    public static func delay(_ duration: Duration, afterActing: Bool = false) -> Fault {
        var fault = Fault(name: "delay", acts: true)
        if afterActing { fault.replyDelay = duration } else { fault.delay = duration }
        return fault
    }

    public static func nonceChallenge(afterActing: Bool = false) -> Fault {
        var fault = Fault(name: "nonce challenge", acts: afterActing)
        fault.challengesForNonce = true
        return fault
    }

    /// The real reply with some members changed, or removed where `nil`.
    public static func patch(_ members: [String: JSONValue?]) -> Fault {
        var fault = Fault(name: "patch", acts: true)
        fault.members = members
        return fault
    }

    private static func ending(_ ending: Ending, afterActing: Bool) -> Fault {
        var fault = Fault(name: ending.rawValue, acts: afterActing)
        fault.ending = ending
        return fault
    }

    public func `for`(
        path: String? = "/token", grantType: String? = nil, user: String? = nil, client: String? = nil
    ) -> Fault {
        var fault = self
        (fault.path, fault.grantType, fault.user, fault.client) = (path, grantType, user, client)
        return fault
    }

    public func times(_ count: Int) -> Fault {
        var fault = self
        fault.times = count
        return fault
    }

    public func skipping(_ count: Int) -> Fault {
        var fault = self
        fault.skip = count
        return fault
    }
}
