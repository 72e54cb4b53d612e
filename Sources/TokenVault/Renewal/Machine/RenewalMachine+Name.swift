extension RenewalMachine.Ending {
    /// A constant word, for logs.
    var name: String {
        switch self {
        case .renewed: "renewed"
        case .satisfied: "satisfied"
        case .superseded: "superseded"
        case .refused: "refused"
        case .failed(.dead): "dead"
        case .failed(.needsUser): "needsUser"
        case .failed(.clientRefused): "clientRefused"
        case .failed(.misconfigured): "misconfigured"
        case .failed(.targetRefused): "targetRefused"
        case .failed(.transient): "transient"
        case .failed(.unprocessed): "unprocessed"
        case .failed(.inDoubt): "inDoubt"
        case .failed(.notSent): "notSent"
        case .failed(.withdrawn): "withdrawn"
        case .failed(.postponed): "postponed"
        case .successorOnly: "successorOnly"
        }
    }
}
