import Crypto
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

/// A destination that receives events one after the other.
protocol EventDelivery: Sendable {
    /// - Parameter body: The event as one JSON document.
    /// - Throws: ``DeliveryProblem``: the event counts as undelivered, and is retried.
    func deliver(_ event: SessionEvent, _ body: [UInt8]) async throws
}

/// Why an event was not accepted.
struct DeliveryProblem: Error {
    /// One sentence, lower case, without a full stop.
    let message: String
}

/// A program on this machine.
struct ProgramDelivery: EventDelivery {
    let program: EventProgram

    func deliver(_ event: SessionEvent, _ body: [UInt8]) async throws {
        do {
            try await program.tell(event.kind.name, body)
        } catch let error as VaultError {
            throw DeliveryProblem(message: error.message)
        }
    }
}

/// A server: one signed request for each event. No redirect is followed.
///
/// `TokenVault-Signature: t=SECONDS,v1=HEX` is HMAC-SHA256 over the time, a full stop and the body.
struct WebhookDelivery: EventDelivery {
    static let leastKeyLength = 16

    let url: EndpointURL
    let key: SymmetricKey
    let transport: any HTTPTransport
    let now: @Sendable () -> Date

    func deliver(_ event: SessionEvent, _ body: [UInt8]) async throws {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        if let name = HTTPField.Name("TokenVault-Event") { fields[name] = event.kind.name }
        if let name = HTTPField.Name("TokenVault-Signature") { fields[name] = signature(of: body) }
        let request = HTTPRequest(
            method: .post, scheme: url.scheme, authority: url.authority, path: url.requestTarget, headerFields: fields)
        let reply: HTTPReply
        do {
            reply = try await transport.send(request, body: body, limits: HTTPLimits())
        } catch {
            throw DeliveryProblem(message: "\(error)")
        }
        guard reply.response.status.kind == .successful else {
            throw DeliveryProblem(message: "the server answered with status \(reply.response.status.code)")
        }
    }

    private func signature(of body: [UInt8]) -> String {
        let seconds = Int(now().timeIntervalSince1970)
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(seconds).".utf8) + body, using: key)
        return "t=\(seconds),v1=\(Hex.encode(code))"
    }
}
