/// The result of one request to an endpoint.
package enum EndpointReply: Sendable {
    case reply(HTTPReply)
    case failure(HTTPTransportError)
}
