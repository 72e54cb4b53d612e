import HTTPTypes
import OAuthClient

extension World {
    private static let clientTimeout: Int64 = 20_000

    /// A request leaves a process.
    func sent(_ exchange: Exchange) {
        guard !isBurying else { return exchange.end(.failure(HTTPTransportError(.notSent, .connect))) }
        let isRefresh = exchange.refreshToken != nil
        judge.willSend(exchange)
        if isRefresh { counts.requests += 1 }
        var fate = Fate.good
        if chaos.network > 0, random.chance(chaos.networkRate) {
            chaos.network -= 1
            counts.networkFaults += 1
            fate = random.pick(isRefresh ? Fate.usual : [.unreachable, .lostAfter, .failedBefore])
            if hasSchedulers, isRefresh, random.chance(isCalm ? 60 : 30) { fate = .slowRequest }
        }
        trace.note("send", exchange.process, isRefresh ? 1 : 0, at: now, "\(fate) \(judge.name(exchange))")
        carry(exchange, fate)
        hazard(exchange.process)
        if isRefresh, let putBack = putBackAtRequest {
            putBackAtRequest = nil
            events.add(after: 1, putBack)
        }
    }

    private func carry(_ exchange: Exchange, _ fate: Fate) {
        let out = Int64(random.between(1, 120))
        let back = Int64(random.between(1, 120))
        switch fate {
        case .unreachable:
            fail(exchange, fate, after: out, .notSent, .connect)
        case .lostBefore:
            fail(exchange, fate, after: random.chance(50) ? out : Self.clientTimeout, .maybeSent, .timeout)
        case .late:
            fail(exchange, fate, after: Self.clientTimeout, .maybeSent, .timeout)
            arrive(exchange, after: Self.clientTimeout + out * Int64(random.between(1, 40))) { _ in }
        case .slowRequest:
            // A process that hangs on a slow server is often killed and started again.
            if doomed == nil, chaos.crashes > 0, random.chance(50) {
                chaos.crashes -= 1
                doomed = (processes[exchange.process - 1], true)
                events.add(after: Int64(random.between(100, 3_000))) { [self] in
                    if settledAt == nil, processes.filter(\.isAlive).count < 3 { startProcess() }
                }
            }
            fail(exchange, fate, after: Self.clientTimeout, .maybeSent, .timeout)
            arrive(exchange, after: out * Int64(random.between(1, 250))) { [self] answer in
                come(back: answer, exchange, .good, after: back)
            }
        case .slowReply:
            fail(exchange, fate, after: Self.clientTimeout, .maybeSent, .timeout)
            arrive(exchange, after: out) { _ in }
        case .clientRefused:
            reply(
                exchange, fate, after: out + back,
                SimulatedServer.json(#"{"error":"invalid_client"}"#, status: .unauthorized))
        case .throttled:
            reply(exchange, fate, after: out + back, Self.busy(.tooManyRequests))
        case .failedBefore:
            reply(exchange, fate, after: out + back, Self.busy(.serviceUnavailable))
        case .good, .lostAfter, .truncated, .failedAfter, .partial:
            arrive(exchange, after: out) { [self] answer in come(back: answer, exchange, fate, after: back) }
        }
    }

    private func come(back answer: SimulatedServer.Answer, _ exchange: Exchange, _ fate: Fate, after back: Int64) {
        var reply = answer.reply
        var token = answer.refreshToken
        // Short error replies come whole.
        let fate = fate == .truncated && reply.response.status != .ok ? .good : fate
        switch fate {
        case .lostAfter:
            return fail(exchange, fate, after: back, .maybeSent, .reset)
        case .truncated:
            reply.body = Array(reply.body.prefix(reply.body.count / 2))
            token = nil
        case .failedAfter:
            reply = HTTPReply(response: HTTPResponse(status: .internalServerError))
            token = nil
        case .partial:
            if let token { reply = SimulatedServer.json(#"{"token_type":"Bearer","refresh_token":"\#(token)"}"#) }
        default:
            break
        }
        self.reply(exchange, fate, after: back, reply, refreshToken: token)
    }

    private func arrive(
        _ exchange: Exchange, after: Int64, _ then: @escaping (SimulatedServer.Answer) -> Void
    ) {
        events.add(after: after) { [self] in
            let isLate =
                !exchange.isOpen || !processes[exchange.process - 1].isAlive
                || judge.robbed.contains(exchange.refreshToken ?? "")
            let (rotations, reuses) = (server.rotations, server.reuses)
            let answer = server.answer(exchange.request, exchange.form, at: now, isLate: isLate)
            counts.rotations += server.rotations - rotations
            if isLate, server.reuses > reuses { judge.arrivedTooLate(exchange) }
            trace.note(
                "arrive", exchange.process, answer.reply.response.status.code, at: now,
                "\(isLate ? "late " : "")\(judge.name(exchange)) -> \(answer.refreshToken ?? "-")")
            then(answer)
        }
    }

    private func reply(
        _ exchange: Exchange, _ fate: Fate, after: Int64, _ reply: HTTPReply, refreshToken: String? = nil
    ) {
        events.add(after: after) { [self] in
            guard isDeliverable(exchange) else { return }
            judge.replied(exchange, fate, reply, refreshToken: refreshToken)
            trace.note("reply", exchange.process, reply.response.status.code, at: now, judge.name(exchange))
            exchange.end(.success(reply))
            hazard(exchange.process)
        }
    }

    private func fail(
        _ exchange: Exchange, _ fate: Fate, after: Int64, _ phase: HTTPTransportError.Phase,
        _ code: HTTPTransportError.Code
    ) {
        events.add(after: after) { [self] in
            guard isDeliverable(exchange) else { return }
            judge.failed(exchange, fate)
            trace.note("noReply", exchange.process, at: now, "\(phase) \(judge.name(exchange))")
            exchange.end(.failure(HTTPTransportError(phase, code)))
        }
    }

    private func isDeliverable(_ exchange: Exchange) -> Bool {
        guard exchange.isOpen else { return false }
        guard processes[exchange.process - 1].isAlive else {
            undeliverable.append(exchange)
            return false
        }
        return true
    }

    private static func busy(_ status: HTTPResponse.Status) -> HTTPReply {
        var fields = HTTPFields()
        fields[.retryAfter] = "2"
        return HTTPReply(response: HTTPResponse(status: status, headerFields: fields))
    }
}
