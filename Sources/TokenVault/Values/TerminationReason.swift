/// Why a login was terminated. An open set; the codes are stored and never reused.
public struct TerminationReason: Hashable, Sendable, CustomStringConvertible {
    package let code: UInt8

    public var description: String {
        switch code {
        case Self.userDisabled.code: "userDisabled"
        case Self.globalBan.code: "globalBan"
        case Self.userDeleted.code: "userDeleted"
        case Self.unauthorized.code: "unauthorized"
        default: "unknown"
        }
    }

    package init(code: UInt8) {
        self.code = code
    }

    /// The user was disabled by an administrator.
    public static let userDisabled = Self(code: 1)
    /// The provider, or the app, has banned the user.
    public static let globalBan = Self(code: 2)
    /// The user was deleted: at the provider, or erased here.
    public static let userDeleted = Self(code: 3)
    /// The user is no longer allowed to use this.
    public static let unauthorized = Self(code: 4)

    /// The reasons that this version knows.
    package static let known: [TerminationReason] = [.userDisabled, .globalBan, .userDeleted, .unauthorized]
}

extension TerminationReason: NameRendering {}
