import FoundationEssentials
import HTTPTypes

extension ServerCore {
    /// The path below the issuer's. RFC 8414 §3 and RFC 9728 §3.1 put their well-known segments before the issuer's
    /// path, OpenID behind it.
    func route(of rawPath: String) -> String {
        let prefix = configuration.issuerPath
        let wellKnown = "/.well-known/oauth-authorization-server"
        if prefix.isEmpty || rawPath.hasPrefix("/dev/") { return rawPath }
        if rawPath == wellKnown + prefix { return wellKnown }
        let resources = Self.resourceWellKnown
        if rawPath == resources { return resources }
        if rawPath.hasPrefix(prefix + resources) { return "/" }
        if rawPath.hasPrefix(resources + prefix + "/") {
            return resources + rawPath.dropFirst(resources.count + prefix.count)
        }
        if rawPath == wellKnown || !rawPath.hasPrefix(prefix + "/") { return "/" }
        return String(rawPath.dropFirst(prefix.count))
    }

    func log(_ record: RequestRecord, status: HTTPResponse.Status?) {
        var record = record
        record.time = clock.wall.milliseconds
        record.status = status?.code ?? 0
        log.append(record)
    }

    func spoil(_ reply: inout Reply, _ fault: Fault) {
        if fault.challengesForNonce {
            reply = .error(.useDPoPNonce(reason: "fault"))
            reply.headers[.dpopNonce] = proofs.offerSingleUseNonce()
        } else if !fault.keepsReply {
            reply = Reply(HTTPResponse.Status(code: fault.status ?? reply.status.code), headers: reply.headers)
            if fault.status != nil { reply.headers = [:] }
            reply.body = Array((fault.body ?? "").utf8)
        }
        for (name, value) in fault.headers {
            guard let name = HTTPField.Name(name) else { continue }
            reply.headers[name] = value
        }
        if !fault.members.isEmpty, case .object(var members) = JSONValue.parse(reply.body) {
            for (name, value) in fault.members { members[name] = value }
            reply.body = Reply.json(JSONValue.object(members)).body
        }
    }
}
