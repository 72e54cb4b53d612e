/// Whom an id token is about (OpenID Connect Core §2). Not printed: a subject may be an e-mail address.
package struct IDTokenIdentity: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package let subject: String
    package let issuer: String

    package init(subject: String, issuer: String) {
        self.subject = subject
        self.issuer = issuer
    }

    package var description: String { "<identity>" }
    package var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
