import FoundationEssentials
import OAuthClient

/// The way to providers, with a record of what came for the listener, if there is one.
struct ProviderChannel: Sendable {
    let transport: any HTTPTransport
    let announcer: ResponseAnnouncer?
    let now: @Sendable () -> Date

    func recorder(of operation: TokenEndpointResponse.Operation) -> ResponseRecorder? {
        announcer?.recorder(of: operation, over: transport, now: now)
    }
}
