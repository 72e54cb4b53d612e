import VaultCrypto

extension PrefetchHint {
    /// - Parameter context: the context whose keys make the indexes of users. Under other keys the result sets are of
    ///   no use.
    package func addQuestions(to questions: inout [BoundQuery], _ context: VaultContext) {
        switch self {
        case .nothing: return
        case .rows(let query, let key, let other):
            questions.append(BoundQuery(query, [.bytes(key)] + (other.map { [.bytes($0)] } ?? [])))
        case .rowsOfUser(let query, let id):
            questions.append(BoundQuery(query, .bytes(context.keyring.blindIndex(ofUserId: id).bytes)))
        case .each(let all):
            for prefetchHint in all { prefetchHint.addQuestions(to: &questions, context) }
        }
    }
}
