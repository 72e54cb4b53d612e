import Foundation
import HTTPTypes
import OAuthClient

extension PlayedProvider {
    func reply(_ status: Int, _ body: [String: Any], _ headers: [String: String] = [:]) -> HTTPReply {
        var fields: HTTPFields = [.contentType: "application/json"]
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        let bytes = (try? JSONSerialization.data(withJSONObject: body)) ?? Data()
        return HTTPReply(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: body.isEmpty ? [] : Array(bytes))
    }

    /// The provider's word that this grant is over.
    func dead() -> HTTPReply {
        if let status = (profile.optional("errors.bareDeadStatuses") as [Int]?)?.first { return reply(status, [:]) }
        let codes: [String] = profile.value("errors.dead", or: ["invalid_grant"])
        let statuses = profile.successMember == nil ? 400 : 200
        return reply(statuses, profile.error(codes.first ?? "invalid_grant"))
    }

    func succeeded(_ body: [String: Any]) -> [String: Any] {
        var body = body
        if let (name, value) = profile.successMember { body[name] = value }
        return body
    }

    /// - Parameter isYoung: Whether it is a token that has to be exchanged for one that lasts.
    func tokens(_ index: Int, sendsRefreshToken: Bool, isYoung: Bool) -> HTTPReply {
        let grant = grant(index)
        var body: [String: Any] = ["access_token": grant.access, "scope": "one"]
        let aliases: [String: String] = profile.value("reply.tokenTypes", or: [:])
        body["token_type"] = profile.isBound ? "DPoP" : aliases.keys.sorted().first ?? "Bearer"
        let needsExchange = (profile.optional("refresh.first.endpoint") as String?) != nil
        let lifetime = profile.chainsAccessTokens && !(isYoung && needsExchange) ? Self.longLifetime : Self.lifetime
        let members: [[String: String]] = profile.value("reply.lifetimes", or: [["name": "expires_in"]])
        set(lifetime, members, &body)
        if sendsRefreshToken, !profile.chainsAccessTokens {
            body["refresh_token"] = grant.current
            set(30 * 86_400, profile.value("reply.refreshLifetimes", or: []), &body)
        }
        for path: String in profile.value("reply.keep", or: []) where path != "authorization_details" {
            let parts = path.split(separator: ".").map(String.init)
            guard parts.count > 1 else {
                body[path] = "kept-\(path)"
                continue
            }
            var inner: Any = "kept-\(path)"
            for part in parts.dropFirst().reversed() { inner = [part: inner] }
            let known = body[parts[0]] as? [String: Any] ?? [:]
            body[parts[0]] = known.merging(inner as? [String: Any] ?? [:]) { old, _ in old }
        }
        var outer: [String: Any] = body
        for part: String in (profile.value("reply.tokenPath", or: []) as [String]).reversed() { outer = [part: outer] }
        return reply(200, succeeded(outer))
    }

    private func set(_ seconds: Int, _ members: [[String: String]], _ body: inout [String: Any]) {
        guard let member = members.first, let name = member["name"] else { return }
        let end = now.timeIntervalSince1970 + Double(seconds)
        switch member["unit"] {
        case "milliseconds": body[name] = seconds * 1_000
        case "epochSeconds": body[name] = Int(end)
        case "epochMilliseconds": body[name] = Int(end * 1_000)
        default: body[name] = seconds
        }
    }

    // MARK: Requests

    func parsed(_ url: String) throws -> (address: String, query: [String: String]) {
        let parts = url.split(separator: "?", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? FormFields.query(parts[1]) : [:])
    }

    func parsed(_ request: HTTPRequest) throws -> (address: String, query: [String: String]) {
        try parsed("\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
    }
}

/// Parameters of requests, by name.
enum FormFields {
    static func query(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for parameter in FormCodec.decode(text.utf8) ?? [] { fields[parameter.name] = parameter.value }
        return fields
    }

    static func json(_ body: [UInt8]) -> [String: String] {
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return (object ?? [:]).compactMapValues { $0 as? String }
    }

    static func text(_ fields: [String: String]) -> String {
        String(
            decoding: FormCodec.encode(fields.sorted { $0.key < $1.key }.map { FormParameter($0.key, $0.value) }),
            as: UTF8.self)
    }
}
