/// Called after every exchange with a token or revocation endpoint: for diagnostics, metrics and what a server says in
/// its header fields.
///
/// It is *not* a second delivery of the result: that is what the call returns. It runs in the background, one response
/// at a time and in order, after the new tokens have been stored. However slow it is, no call waits for it; if it falls
/// too far behind, responses are left out and the next one says how many. What it throws is ignored.
public protocol TokenEndpointResponseListener: Sendable {
    func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws
}
