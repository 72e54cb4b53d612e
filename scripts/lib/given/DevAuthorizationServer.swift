// The blocks about the development server start their own. A service is only implied by them.

import BlockWorld
import DevAuthorizationServer

/// As a service renews; the reply may be lost.
func renew(_ login: IssuedGrant, at server: DevAuthorizationServer) async throws {
    do {
        try await Network.refresh(login.refreshToken, of: "demo", at: server.base)
    } catch is Network.LostReply {}
}
