import Tracing

extension Renewal {
    /// Runs the renewal in a span of its own, a child of the call that started it: a caller that waits for another's
    /// flight finds it there. The span contains nothing about the user or the login, and no token.
    func traced(_ work: () async -> (RenewalMachine.Ending, asked: String?)) async -> RenewalMachine.Ending {
        let tracer = context.options.tracer ?? InstrumentationSystem.tracer
        return await tracer.withAnySpan("token_vault.renewal", context: trace, ofKind: .client) { span in
            let (ending, asked) = await work()
            let outcome = RenewalOutcome(ending)
            span.attributes["token_vault.outcome"] = outcome.description
            span.attributes["token_vault.asked_by"] = demand.isForCaller ? "caller" : "background"
            if let asked { span.attributes["token_vault.provider"] = asked }
            if outcome.isFailure { span.setStatus(SpanStatus(code: .error, message: outcome.description)) }
            return ending
        }
    }
}
