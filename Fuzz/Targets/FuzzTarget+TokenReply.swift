import Foundation
import HTTPTypes
import OAuthClient

extension FuzzTarget {
    /// A reply of the token endpoint: its meaning, and the meanings that it must not have.
    ///
    ///     400 DI                           status, and letters for the circumstances
    ///     Content-Type: application/json   header fields
    ///                                      an empty line
    ///     {"error":"invalid_grant"}        body
    static let tokenReply = FuzzTarget("token-reply") { bytes throws(FuzzFinding) in
        let input = ReplyInput(bytes)
        for rules in ReplyInput.rules {
            let outcome = classify(.reply(input.reply), input.context, rules)
            try input.judge(outcome, rules)
            let again = classify(.reply(input.reply), input.context, rules)
            try require(outcome == again, "the same reply means two things")
        }
    }
}

/// A reply and its circumstances, read from a fuzzer's bytes.
private struct ReplyInput {
    let reply: HTTPReply
    let context: ClassificationContext

    static let rules: [ReplyRules] = [
        .rfc,
        ReplyRules(
            successMember: "ok", meanings: ["invalid_refresh_token": .deadByProfile], bareDeadStatuses: [400],
            rotation: .always, lifetimes: [LifetimeMember("expires_in", .milliseconds)], scopeSeparator: ","),
        ReplyRules(
            format: .json, tokenPath: ["authed_user"], rotation: .never, acceptsDowngrade: true,
            lifetimes: [LifetimeMember("expires_at", .epochSeconds), LifetimeMember("expires_in")]),
    ]

    init(_ bytes: [UInt8]) {
        let newline = UInt8(ascii: "\n")
        var rest = bytes[...]
        func line() -> String {
            let end = rest.firstIndex(of: newline) ?? rest.endIndex
            defer { rest = rest[min(end + 1, rest.endIndex)...] }
            return String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        }
        let first = line().split(separator: " ", maxSplits: 1)
        var fields = HTTPFields()
        while !rest.isEmpty {
            let field = line()
            guard let colon = field.firstIndex(of: ":") else { break }
            guard let name = HTTPField.Name(String(field[..<colon])) else { continue }
            fields.append(
                HTTPField(name: name, value: String(field[field.index(after: colon)...].drop { $0 == " " })))
        }
        let status = first.first.flatMap { Int($0) } ?? 200
        reply = HTTPReply(
            response: HTTPResponse(
                status: .init(code: (0...999).contains(status) ? status : 200), headerFields: fields),
            body: Array(rest))
        context = Self.context(first.count > 1 ? String(first[1]) : "")
    }

    private static func context(_ letters: String) -> ClassificationContext {
        let letters = Set(letters)
        var context = ClassificationContext(
            expectedTokenType: letters.contains("T") ? .dpop : .bearer, inDoubtIntentExisted: letters.contains("D"),
            rejections: letters.contains("X") ? RejectionHistory(count: 9, span: .seconds(90_000)) : nil,
            expectedIdentity: letters.contains("I") ? IDTokenIdentity(subject: "alice", issuer: nil) : nil,
            proofWasSent: letters.contains("P"), sentNonce: letters.contains("N") ? DPoPNonce("nonce") : nil,
            proofWasRepeated: letters.contains("R"), scopeWasSent: letters.contains("S"),
            isRepeat: letters.contains("A"), startedAt: Date(timeIntervalSince1970: 1_700_000_000),
            repliedAt: Date(timeIntervalSince1970: 1_700_000_001))
        if letters.contains("F") { context.nonceRepeats = 5 }
        if letters.contains("O") { context.triedNonces = Set([DPoPNonce("old")].compactMap(\.self)) }
        return context
    }

    private var hasDoubt: Bool { context.inDoubtIntentExisted || context.isRepeat }
    private var status: Int { reply.response.status.code }

    func judge(_ outcome: TokenOutcome, _ rules: ReplyRules) throws(FuzzFinding) {
        switch outcome {
        case .dead(let cause): try judgeDeath(cause, rules)
        case .success(let issued): try judgeSuccess(issued, rules)
        case .partial(let partial):
            try require((200...299).contains(status), "a successor from status \(status)")
            try require(!"\(outcome)".contains(partial.refreshToken), "a refresh token is printed")
        case .transient(let failure):
            try require(failure.keepsDoubt || !hasDoubt, "an earlier doubt is forgotten")
            let wait = failure.retryAfter ?? .zero
            try require(wait >= .zero && wait <= .seconds(3_600), "a wait of \(wait)")
        case .nonceRequired(let nonce):
            try require(context.proofWasSent && nonce != context.sentNonce, "a repeat that changes nothing")
            try require(!context.triedNonces.contains(nonce), "a nonce that was tried before")
            try require(context.nonceRepeats < 5, "a sixth repeat for a nonce")
        case .invalidProof(.nonce(let nonce)):
            try require(context.proofWasSent && nonce != context.sentNonce, "a repeat that changes nothing")
            try require(!context.proofWasRepeated, "a second repeat for the proof")
        case .invalidProof(.clock): try require(!context.proofWasRepeated, "a second repeat for the proof")
        case .scopeRefused: try require(context.scopeWasSent, "a repeat without a scope that was not sent")
        case .invalidProof(.none), .misconfigured, .needsUser, .inDoubt: break
        }
    }

    /// Rows 7, 8, 11 and 14, written independently: the only ways to a dead login.
    private func judgeDeath(_ cause: DeadCause, _ rules: ReplyRules) throws(FuzzFinding) {
        let isRefusal =
            (400...499).contains(status) && status != 429 && reply.response.headerFields[.retryAfter] == nil
        try require(isRefusal || (200...299).contains(status), "dead by status \(status)")
        let error = IndependentReading.error(of: reply.body)
        let isBare = rules.bareDeadStatuses.contains(status) && reply.body.allSatisfy { $0 <= 0x20 }
        let isProfileCode = error.map { rules.meanings[$0] == .deadByProfile } ?? false
        switch cause {
        case .unclassifiedRejection:
            try require(isRefusal && context.rejections != nil, "dead by one rejection")
            return
        case .keyMismatch:
            let wasRefused = error == "invalid_dpop_proof" && context.proofWasSent
            try require(wasRefused && context.rejections != nil, "dead by one refused proof")
            return
        case .lostResponse: try require(hasDoubt, "a lost response that nobody lost")
        case .invalidGrant: try require(error == "invalid_grant", "dead by error \(error ?? "none")")
        case .profileCode: try require(isProfileCode, "dead by profile, by error \(error ?? "none")")
        case .bareStatus: try require(isBare, "dead by a bare status, with a body")
        }
        try require(cause == .lostResponse || !hasDoubt, "an earlier doubt is forgotten")
        try require(error == "invalid_grant" || isProfileCode || isBare, "dead by error \(error ?? "none")")
    }

    private func judgeSuccess(_ issued: IssuedTokens, _ rules: ReplyRules) throws(FuzzFinding) {
        try require((200...299).contains(status), "tokens from status \(status)")
        let type = issued.tokenType
        try require(
            type == context.expectedTokenType || (rules.acceptsDowngrade && type == .bearer), "a downgrade to \(type)")
        let lifetime = issued.expiresIn ?? .zero
        try require(lifetime >= .zero && lifetime <= .seconds(10 * 365 * 86_400), "a lifetime of \(lifetime)")
        let text = "\(issued)"
        try require(!text.contains(issued.accessToken), "an access token is printed")
        if let token = issued.refreshToken { try require(!text.contains(token), "a refresh token is printed") }
        if let expected = context.expectedIdentity, let identity = issued.identity {
            try require(identity.subject == expected.subject, "tokens of somebody else")
        }
    }
}

extension String {
    /// Short values occur in any text by chance.
    fileprivate func contains(_ secret: some OAuthSecret) -> Bool {
        secret.reveal().utf8.count >= 24 && contains(secret.reveal())
    }
}
