import ArgumentParser
import OAuthClient
import Platform
import TokenVault
import VaultServer

/// A question to a policy: what a program may have.
struct PolicyQuestionOptions: ParsableArguments {
    @Flag(help: "Read the policy, answer the question, and end.")
    var check = false

    @Option(help: .init("The system's user that the program runs as, by name or number.", valueName: "user"))
    var clientUser: String?

    @Option(help: .init("The system's group that the program runs as, by name or number.", valueName: "group"))
    var clientGroup: String?

    @Option(help: .init("The name of the socket that the program connects to. (default: main)", valueName: "name"))
    var socketName: String?

    @Option(help: .init("What the program wants to do: \(PolicyQuestionOptions.verbs).", valueName: "verb"))
    var verb: Verb?

    @Option(help: .init("Whose login it is about, as the app calls them.", valueName: "id"))
    var user: String?

    @Option(help: .init("The provider's name.", valueName: "name"))
    var provider: String?

    @Option(help: .init("The tenant of the user.", valueName: "tenant"))
    var tenant: TenantName?

    @Option(help: .init("The scope of the token.", valueName: "scope"))
    var scope: String?

    @Option(help: .init("The resource that the token is for.", valueName: "URI"))
    var resource: String?

    @Option(help: .init("Where the program sends a request.", valueName: "URL"))
    var url: String?

    @Option(help: .init("The request's method.", valueName: "method"))
    var method: String?

    typealias Verb = PolicyClient.Verb

    static let verbs = Verb.allCases.map(\.rawValue).joined(separator: ", ")

    private var isAsking: Bool { clientUser != nil || clientGroup != nil }
    private var details: [String?] {
        [socketName, verb?.rawValue, user, provider, tenant?.tenant.description, scope, resource, url, method]
    }

    func validate(isChecking: Bool) throws {
        guard isChecking || !isAsking && details.allSatisfy({ $0 == nil }) else {
            throw ValidationError("these options ask a policy a question: add --check")
        }
        guard isAsking || details.allSatisfy({ $0 == nil }) else {
            throw ValidationError("name the program that asks: --client-user, --client-group, or both")
        }
        guard !isAsking || verb != nil else {
            throw ValidationError("name what the program wants to do: --verb \(Verb.allCases[0].rawValue)")
        }
        guard let verb else { return }
        let isOfToken = [.token, .authorize].contains(verb)
        guard !isOfToken || user != nil else {
            throw ValidationError("name whose login it is about: --user ID")
        }
        guard verb == .authorize || url == nil && method == nil else {
            throw ValidationError("--url and --method go with --verb authorize")
        }
        guard isOfToken || scope == nil && resource == nil else {
            throw ValidationError("--scope and --resource go with --verb token or authorize")
        }
    }

    /// Prints the answer.
    func answer(by policy: ServePolicy, _ invocation: Invocation) throws {
        guard isAsking, let verb else { return try list(policy, invocation) }
        let peer = PeerCredentials(
            user: try number(clientUser, "user") { UserID(named: $0)?.number },
            group: try number(clientGroup, "group") { GroupID(named: $0)?.number })
        guard let client = policy.client(of: peer, on: socketName ?? "main") else {
            return try emit(nil, "the policy has no client for this user, group and socket", invocation)
        }
        try emit(client, try refusal(by: client, verb)?.reason, invocation)
    }

    private func refusal(by client: PolicyClient, _ verb: Verb) throws(Failure) -> PolicyRefusal? {
        var question = PolicyQuestion(verb, user: user, tenant: tenant?.tenant.description, provider: provider)
        (question.resource, question.method) = (resource, method)
        do throws(OAuthValueError) {
            question.scope = try scope.map { text throws(OAuthValueError) in try Scope(text).tokens }
        } catch {
            throw .usage("the value of --scope is not a scope", hint: "separate them by blanks: --scope 'read write'")
        }
        do throws(OAuthValueError) {
            question.target = try url.map { text throws(OAuthValueError) in
                try EndpointURL(text, allowsInsecureLoopback: true)
            }
        } catch {
            throw .usage(
                "the value of --url is not the URL of a request", hint: "for example: --url https://api.example/me")
        }
        return client.refusal(of: question)
    }

    private func number(
        _ text: String?, _ noun: String, _ find: (String) -> UInt32?
    ) throws(Failure) -> UInt32 {
        guard let text else { return .max }
        if let number = UInt32(text) ?? find(text) { return number }
        throw .usage(
            "this machine has no \(noun) \(Printable.named(text))",
            hint: "if it is on another machine, give its number: --client-\(noun) NUMBER")
    }

    private func emit(_ client: PolicyClient?, _ reason: String?, _ invocation: Invocation) throws {
        try invocation.emit([
            Field("isAllowed", reason == nil).label("allowed").words(reason.map { "no: \($0)" } ?? "yes"),
            .data("reason", reason), Field("client", client.map { Printable.escape($0.name) }),
            Field("line", client?.line),
        ])
        if reason != nil { throw ExitRequest(status: .partlyDone) }
    }

    private func list(_ policy: ServePolicy, _ invocation: Invocation) throws {
        let records = policy.clients.map { client -> OutputRecord in
            [
                Field("client", client.name).column("CLIENT"), Field("line", client.line).column("LINE"),
                Field("uid", client.identity.user.map(Int.init)).column("UID"),
                Field("gid", client.identity.group.map(Int.init)).column("GID"),
                Field("socket", client.identity.socket).column("SOCKET"),
                Field("verbs", client.verbs.map(\.rawValue).sorted().joined(separator: " ")).column("VERBS"),
            ]
        }
        try invocation.emit("clients", records, ["CLIENT", "LINE", "UID", "GID", "SOCKET", "VERBS"])
    }
}

extension PolicyClient.Verb: ExpressibleByArgument {}
