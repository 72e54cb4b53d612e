/// Called after every exchange with a token or revocation endpoint: for diagnostics, metrics and a server's header
/// fields.
///
/// It is *not* a second delivery of the result, which the call returns. It runs in the background, one response at a
/// time and in order, after the new tokens have been stored. However slow it is, no call waits for it; if it falls too
/// far behind, responses are dropped and the next one says how many. Errors that it throws are ignored.
public protocol TokenEndpointResponseListener: Sendable {
    func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws
}
