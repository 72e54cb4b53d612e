import HTTPTypes

/// The form of a fault at `/dev/faults`.
extension Fault {
    private static let members = [
        "name", "path", "grant_type", "user", "client", "skip", "times", "acts", "delay_ms", "reply_delay_ms", "status",
        "headers", "body", "members", "nonce_challenge", "ending", "body_bytes",
    ]

    init(_ json: ControlBody) throws(ControlError) {
        try json.refuseOthers(than: Self.members)
        self.init(name: try json.text("name") ?? "fault", acts: true)
        if let path = try json.text("path") { self.path = path == "*" ? nil : path }
        grantType = try json.text("grant_type")
        user = try json.text("user")
        client = try json.text("client")
        skip = try json.count("skip", in: 0...1_000_000) ?? 0
        times = try json.count("times", in: 0...1_000_000) ?? 1
        delay = .milliseconds(try json.count("delay_ms", in: 0...86_400_000) ?? 0)
        replyDelay = .milliseconds(try json.count("reply_delay_ms", in: 0...86_400_000) ?? 0)
        status = try json.count("status", in: 200...999)
        body = try json.text("body")
        challengesForNonce = try json.flag("nonce_challenge") ?? false
        bodyBytes = try json.count("body_bytes", in: 0...1_000_000) ?? 0
        for (name, value) in try json.object("headers") ?? [:] {
            guard HTTPField.Name(name) != nil, value == .null || value.string.map(Self.isFieldValue) == true else {
                throw ControlError(sentence: "headers must map field names to a string or null")
            }
            headers[name] = .some(value.string)
        }
        for (name, value) in try json.object("members") ?? [:] {
            members[name] = .some(value == .null ? nil : value)
        }
        if let text = try json.text("ending") {
            guard let ending = Ending(rawValue: text) else {
                let known = Ending.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(sentence: "ending must be one of \(known)")
            }
            self.ending = ending
        }
        // Said outright, or: a fault that hides the server's own reply also keeps the server from acting.
        let isHidden = !keepsReply || ending == .close || ending == .reset || ending == .hang
        acts = try json.flag("acts") ?? !isHidden
    }

    var json: JSONValue {
        var json: [String: JSONValue] = [
            "name": .string(name), "path": .string(path ?? "*"), "skip": .integer(Int64(skip)),
            "times": .integer(Int64(times)), "acts": .bool(acts), "ending": .string(ending.rawValue),
        ]
        json["grant_type"] = grantType.map(JSONValue.string)
        json["user"] = user.map(JSONValue.string)
        json["client"] = client.map(JSONValue.string)
        json["status"] = status.map { .integer(Int64($0)) }
        json["body"] = body.map(JSONValue.string)
        if delay != .zero { json["delay_ms"] = .integer(delay.inMilliseconds) }
        if replyDelay != .zero { json["reply_delay_ms"] = .integer(replyDelay.inMilliseconds) }
        if challengesForNonce { json["nonce_challenge"] = true }
        if bodyBytes > 0 { json["body_bytes"] = .integer(Int64(bodyBytes)) }
        if !headers.isEmpty { json["headers"] = .object(headers.mapValues { $0.map(JSONValue.string) ?? .null }) }
        if !members.isEmpty { json["members"] = .object(members.mapValues { $0 ?? .null }) }
        return .object(json)
    }

    private static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || (0x20...0x7E).contains($0) }
    }
}
