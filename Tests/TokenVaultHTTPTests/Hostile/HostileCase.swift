import Foundation
import OAuthClient
import Testing
import TokenVaultHTTP

/// One way to treat a client badly, and what the client must make of it.
struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The classes of REFERENCE tables that the engine tells apart.
    enum Outcome: Hashable, Sendable {
        /// A new generation, with or without a new refresh token.
        case success, successKeepingToken
        /// A new refresh token and nothing else.
        case successor
        case dead
        case misconfigured, needsUser
        /// Later; the token is not spent, or may be.
        case later, laterInDoubt
        case doubt
        case proofRefused
        /// Nothing went out.
        case notSent
    }

    let name: String
    let scripts: [[HostileStep]]
    let expected: Set<Outcome>
    /// Connections that the server may see.
    var requests = 1
    /// The case ends by a time limit, which is therefore short.
    var isSlow = false
    var usesProof = false
    var expectedSubject: String?

    var testDescription: String { name }

    init(
        _ name: String, _ steps: [HostileStep], _ expected: Outcome..., isSlow: Bool = false
    ) {
        self.init(name, steps, expected, isSlow: isSlow)
    }

    init(_ name: String, _ steps: [HostileStep], _ expected: [Outcome], isSlow: Bool = false) {
        self.name = name
        scripts = [steps]
        self.expected = Set(expected)
        self.isSlow = isSlow
    }

    /// For a login with a DPoP key; each connection has its own script.
    init(proof name: String, _ scripts: [[HostileStep]], _ expected: Outcome, requests: Int) {
        self.name = name
        self.scripts = scripts
        self.expected = [expected]
        self.requests = requests
        usesProof = true
    }

    /// One well-formed reply.
    static func reply(
        _ name: String, _ status: Int, _ body: String, _ expected: Outcome, _ fields: String...
    ) -> HostileCase {
        HostileCase(name, [.readRequest, .reply(status, bytes: Array(body.utf8), fields)], expected)
    }

    func expecting(subject: String) -> HostileCase {
        var copy = self
        copy.expectedSubject = subject
        return copy
    }

    /// Limits of a case that must run into them are short; the others have all the time of a busy machine.
    var limits: HTTPLimits {
        HTTPLimits(connectTimeout: .seconds(40), timeout: isSlow ? .seconds(1) : .seconds(40))
    }

    /// Makes the peer work for as long as it lets itself.
    var isFlood: Bool { scripts.joined().contains { if case .flood = $0 { true } else { false } } }

    static let all = HostileGroup.all.flatMap(\.cases)
}

/// Cases of one kind, which are played a few at a time.
struct HostileGroup: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cases: [HostileCase]

    static let all = [
        HostileGroup(testDescription: "transport", cases: HostileCase.transport),
        HostileGroup(testDescription: "framing", cases: HostileCase.framing),
        HostileGroup(testDescription: "headers", cases: HostileCase.headers),
        HostileGroup(testDescription: "sizes", cases: HostileCase.sizes),
        HostileGroup(testDescription: "redirects", cases: HostileCase.redirects),
        HostileGroup(testDescription: "statuses", cases: HostileCase.statuses),
        HostileGroup(testDescription: "documents", cases: HostileCase.json),
        HostileGroup(testDescription: "lifetimes", cases: HostileCase.lifetimes),
        HostileGroup(testDescription: "semantics", cases: HostileCase.semantics),
        HostileGroup(testDescription: "proofs", cases: HostileCase.proofs),
    ]
}

extension HostileCase.Outcome {
    init(_ attempt: TokenAttempt) {
        switch attempt.outcome {
        case .success(let issued): self = issued.refreshToken == nil ? .successKeepingToken : .success
        case .partial: self = .successor
        case .dead: self = .dead
        case .misconfigured: self = .misconfigured
        case .needsUser: self = .needsUser
        case .inDoubt: self = .doubt
        case .invalidProof: self = .proofRefused
        case .transient(let failure):
            if case .notSent = failure.cause {
                self = .notSent
            } else {
                self = failure.keepsDoubt ? .laterInDoubt : .later
            }
        case .nonceRequired, .scopeRefused: self = .later
        }
    }
}

/// Replies that are made of parts.
enum HostileReply {
    static let access = "CANARY-access-2"
    static let refresh = "CANARY-refresh-2"

    /// A good reply with members replaced (nil: left out) or added.
    static func good(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "access_token": "\"\(access)\"", "token_type": "\"Bearer\"", "expires_in": "3600",
            "refresh_token": "\"\(refresh)\"",
        ]
        members.merge(changes) { $1 }
        let pairs = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    static func error(_ code: String) -> String { "{\"error\":\"\(code)\"}" }

    static let invalidGrant = error("invalid_grant")
}
