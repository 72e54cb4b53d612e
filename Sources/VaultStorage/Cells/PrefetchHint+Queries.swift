import VaultCrypto

extension PrefetchHint {
    /// - Parameter context: by whose keys the indexes of users are made. Under others the answers are of no use.
    package func addQuestions(to questions: inout [BoundQuery], _ context: VaultContext) {
        switch self {
        case .nothing: return
        case .rows(let query, let key): questions.append(BoundQuery(query, .bytes(key)))
        case .rowsOfUser(let query, let id):
            questions.append(BoundQuery(query, .bytes(context.keyring.blindIndex(ofUserId: id).bytes)))
        case .each(let all):
            for prefetchHint in all { prefetchHint.addQuestions(to: &questions, context) }
        }
    }
}
