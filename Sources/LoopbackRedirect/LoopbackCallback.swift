package import OAuthClient

/// A callback to a redirect URI on this machine.
package struct LoopbackCallback: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL or its path and query. It contains the code.
    package let url: String
    package let callback: AuthorizationCallback

    /// - Returns: Nil if it is not the answer of an authorization server.
    package init?(_ url: String) {
        guard let callback = try? AuthorizationCallback(parsingAny: url), callback.mayBeAnswer else { return nil }
        self.url = url
        self.callback = callback
    }

    package func answers(_ state: AuthorizationState) -> Bool { callback.state == state }

    package var description: String { "<callback>" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
