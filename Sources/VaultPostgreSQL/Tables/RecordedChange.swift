/// A command that has changed the vault, in a form that can be repeated.
struct RecordedChange {
    let statement: Statement
    let parameters: Parameters
}
