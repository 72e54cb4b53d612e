package enum UserStatus: UInt8, Hashable, Sendable, CaseIterable {
    case active = 1
    case disabled = 2
}
