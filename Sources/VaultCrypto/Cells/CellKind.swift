/// The content type of a cell. The numbers are part of the vault format and are never reused.
package enum CellKind: UInt8, Sendable, CaseIterable {
    case wrappedVaultKey = 1
    case keyring = 2
    case user = 3
    case session = 4
    case refresh = 5
    case key = 6
    case provider = 7
    case authorizationRequest = 8
    case outbox = 9
    case auditDetail = 10
    case spool = 11
    case unusableReply = 12
    case manifest = 13
    case manifestPart = 14
}
