/// How one request to an endpoint ended.
package enum EndpointReply: Sendable {
    case reply(HTTPReply)
    case failure(HTTPTransportError)
}
