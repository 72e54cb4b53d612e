/// How one request to the token endpoint ended.
package enum TokenExchange: Sendable {
    case reply(HTTPReply)
    case failure(HTTPTransportError)
}
