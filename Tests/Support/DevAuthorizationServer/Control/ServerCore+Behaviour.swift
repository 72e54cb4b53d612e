import HTTPTypes
import Synchronization

extension ServerCore {
    /// The server's behaviour, and that of each client that has one of its own.
    var behaviourReading: JSONValue {
        ledger.withLock { ledger in
            let clients = ledger.behaviours.clients.filter { $0.value != ClientBehaviour() }.keys
            return [
                "server": Self.reading(ledger.behaviours.behaviour(of: nil)),
                "clients": .object(
                    Dictionary(
                        clients.map { ($0, Self.reading(ledger.behaviours.behaviour(of: $0))) },
                        uniquingKeysWith: { first, _ in first })),
            ]
        }
    }

    func changeBehaviour(_ body: ControlBody) throws(ControlError) -> Reply {
        try body.refuseOthers(than: [
            "client", "rotation", "grace_ms", "reuse", "nonce_check", "access_token_lifetime_ms", "delay_ms",
            "reply_delay_ms",
        ])
        let client = try body.text("client")
        if let client, clients.client(client) == nil {
            throw ControlError(sentence: "no such client: \(client)", status: .notFound)
        }
        let choices = ClientBehaviour(
            rotation: try body.choice("rotation"), graceWindow: try body.milliseconds("grace_ms"),
            reuse: try body.choice("reuse"), nonceCheck: try body.choice("nonce_check"),
            accessTokenLifetime: try body.milliseconds("access_token_lifetime_ms"),
            delay: try body.milliseconds("delay_ms"), replyDelay: try body.milliseconds("reply_delay_ms"))
        ledger.withLock { $0.behaviours.change(choices, of: client) }
        return .json(behaviourReading)
    }

    private static func reading(_ behaviour: Behaviour) -> JSONValue {
        [
            "rotation": .string(behaviour.rotation.rawValue),
            "grace_ms": .integer(behaviour.graceWindow.inMilliseconds),
            "reuse": .string(behaviour.reuse.rawValue),
            "nonce_check": .string(behaviour.nonceCheck.rawValue),
            "access_token_lifetime_ms": .integer(behaviour.accessTokenLifetime.inMilliseconds),
            "delay_ms": .integer(behaviour.delay.inMilliseconds),
            "reply_delay_ms": .integer(behaviour.replyDelay.inMilliseconds),
        ]
    }
}

extension ControlBody {
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(ControlError) -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(sentence: "\(name) must be one of \(known)")
        }
        return choice
    }

    fileprivate func milliseconds(_ name: String) throws(ControlError) -> Duration? {
        try count(name, in: 0...100_000_000_000).map { .milliseconds($0) }
    }
}
