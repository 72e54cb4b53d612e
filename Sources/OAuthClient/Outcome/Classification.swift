/// Says what one exchange means. Pure: the same values give the same outcome.
package func classify(
    _ exchange: TokenExchange, _ context: ClassificationContext, _ rules: ReplyRules
) -> TokenOutcome {
    switch exchange {
    case .failure(let error) where error.phase == .notSent:
        .transient(TransientFailure(.notSent(error.code), keepsDoubt: context.inDoubtIntentExisted || context.isRepeat))
    case .failure(let error):
        .inDoubt(.transport(error.code))
    case .reply:
        .inDoubt(.unreadableBody)
    }
}
