package import VaultStorage

/// Names one login: a random id that says nothing about the user. Written as 26 lower-case base32 characters.
public struct LoginID: Hashable, Sendable, LosslessStringConvertible {
    package let handle: LoginHandle

    package init(_ handle: LoginHandle) {
        self.handle = handle
    }

    /// Reads the text form; nil if it is not one.
    public init?(_ description: String) {
        guard let handle = LoginHandle(text: description) else { return nil }
        self.handle = handle
    }

    public var description: String { handle.description }
}

extension LoginID: NameRendering {}
