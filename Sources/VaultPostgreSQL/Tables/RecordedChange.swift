/// A command that has changed the vault, as it would be given once more.
struct RecordedChange {
    let statement: Statement
    let parameters: Parameters
}
