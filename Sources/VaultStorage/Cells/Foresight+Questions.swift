import VaultCrypto

extension Foresight {
    /// - Parameter context: by whose keys the indexes of users are made. Under others the answers are of no use.
    package func addQuestions(to questions: inout [Question], _ context: VaultContext) {
        switch self {
        case .nothing: return
        case .rows(let query, let key): questions.append(Question(query, .bytes(key)))
        case .rowsOfUser(let query, let id):
            questions.append(Question(query, .bytes(context.keyring.blindIndex(ofUserId: id).bytes)))
        case .each(let all):
            for foresight in all { foresight.addQuestions(to: &questions, context) }
        }
    }
}
