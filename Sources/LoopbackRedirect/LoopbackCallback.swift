package import OAuthClient

/// An answer that has come back to a redirect URI on this machine.
package struct LoopbackCallback: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL or its path and query: it holds the code.
    package let url: String
    package let callback: AuthorizationCallback

    /// - Returns: nil if it is no answer of an authorization server.
    package init?(_ url: String) {
        guard let callback = try? AuthorizationCallback(parsing: url) else { return nil }
        self.url = url
        self.callback = callback
    }

    package func answers(_ state: AuthorizationState) -> Bool { callback.state == state }

    package var description: String { "<callback>" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
