import OAuthClient
import Platform
import VaultServer

extension FuzzTarget {
    /// The policy of `vaultctl serve`: no process is two clients, and no client may do what it has no verb for.
    static let servePolicy = FuzzTarget("serve-policy") { bytes throws(FuzzFinding) in
        guard let text = String(validating: bytes, as: UTF8.self), let policy = try? read(text) else { return }
        try require(!policy.clients.isEmpty, "a policy without clients")
        try require(Set(policy.clients.map(\.name)).count == policy.clients.count, "two clients of one name")
        for client in policy.clients {
            let identity = client.identity
            let peer = PeerCredentials(user: identity.user ?? 1, group: identity.group ?? 1)
            let socket = identity.socket ?? "main"
            try require(policy.client(of: peer, on: socket)?.name == client.name, "a client that cannot be met")
            for verb in PolicyClient.Verb.allCases where !client.verbs.contains(verb) {
                let question = PolicyQuestion(verb, user: "alice", provider: "acme")
                try require(client.refusal(of: question) != nil, "a verb that is not listed")
            }
        }
    }

    private static func read(_ text: String) throws(PolicyProblem) -> ServePolicy {
        try ServePolicy(text, user: { UInt32($0.utf8.count) }, group: { UInt32($0.utf8.count) })
    }

    /// The body of a request to `vaultctl serve`: what is taken for a text is one to every reader.
    static let serveRequest = FuzzTarget("serve-request") { bytes throws(FuzzFinding) in
        for operation in RequestReading.operations {
            guard let texts = RequestReading.texts(in: bytes, of: operation) else { continue }
            let object = IndependentReading.json(bytes)
            for (name, text) in texts {
                guard let other = object?[name] as? String else {
                    // Foundation takes no number beyond those of a Double.
                    try require(object == nil, "\(name) is no text to another reader")
                    continue
                }
                try require(other.unicodeScalars.elementsEqual(text.unicodeScalars), "\(name) is another text")
            }
        }
    }
}
