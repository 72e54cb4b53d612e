import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

extension Operation {
    static let result = Operation(
        method: .post, path: "/v1/result", id: "reportResult",
        summary: "What an API's reply means for the token, and what to do now.", verb: .authorize,
        body: [
            .required("login", .text(longest: 64), "The login whose token was sent."),
            .required("generation", .number, "Which of its tokens."),
            .required("method", .text(longest: 32), "The request's method."),
            .required("url", .text(longest: 8_192), "The request's URL."),
            .required("status", .number, "The reply's status."),
            .required("headers", .texts, "The reply's header fields."),
            Field("proof", .text(longest: 8_192), "The request's DPoP header field, if it had one."),
            Field.tenant,
        ] + [
            Field("scope", .text(longest: 4_096), "As in the request for the token."),
            Field("resource", .text(longest: 2_048), "As in the request for the token."),
        ],
        answer: [
            .required(
                "outcome", .words(["final", "retry", "needsScope", "needsLogIn"]),
                "`final`: the reply is about the request itself. `retry`: authorize the same request once more, and send "
                    + "it; once for a token, five times for a nonce. `needsScope`: the token lacks a scope. `needsLogIn`: the user must log in again."
            ),
            Field("scope", .text(longest: 0), "The scope that the API wants."),
            Field("code", .text(longest: 0), "Why there is no other token."),
            Field("detail", .text(longest: 0), "The same in words."),
        ]
    ) { call in
        let (request, target) = try call.request()
        var question = PolicyQuestion(.authorize)
        (question.target, question.method) = (target, request.method.rawValue)
        let tokenRequest = try call.tokenRequest()
        (question.scope, question.resource) = (tokenRequest.scope?.tokens, tokenRequest.resource)
        question.tenant = call.values.text("tenant")
        let login = try await call.login(call.values.text("login") ?? "", question)
        return .json(try await call.outcome(login, request, tokenRequest))
    }
}

extension Call {
    fileprivate func outcome(
        _ login: Login, _ request: HTTPRequest, _ tokenRequest: TokenRequest
    ) async throws -> JSONMembers {
        let users = try users()
        let response = try reply()
        var request = request
        request.headerFields[.dpop] = values.text("proof")
        var members = JSONMembers()
        // The newest token stands for the one that was sent: both are of one type, and have one key.
        let token: VaultToken
        do {
            token = try await users.accessToken(for: .login(login.id), tokenRequest)
        } catch let error as VaultError {
            return Self.failure(error)
        }
        switch try await users.outcome(of: response, to: request, with: token) {
        case .wantsNewProof: members.add("outcome", "retry")
        case .needsStepUp(let challenge):
            members.add("outcome", "needsLogIn")
            members.add("scope", challenge.scope?.description)
        case .refusedToken:
            do {
                let isReplaced = try await users.replaces(
                    generation: Int(values.number("generation") ?? 0), of: login.id, tokenRequest)
                members.add("outcome", isReplaced ? "retry" : "final")
            } catch let error as VaultError {
                return Self.failure(error)
            }
        case .needsScope(let scope):
            members.add("outcome", "needsScope")
            members.add("scope", scope.isEmpty ? nil : scope.description)
        case .final: members.add("outcome", "final")
        }
        return members
    }

    private static func failure(_ error: VaultError) -> JSONMembers {
        var members = JSONMembers()
        members.add("outcome", ErrorAnswer(error.code).needsUser ? "needsLogIn" : "final")
        members.add("code", error.code.name)
        members.add("detail", error.message)
        return members
    }

    private func reply() throws(Problem) -> HTTPResponse {
        let status = Int(values.number("status") ?? 0)
        guard (100...599).contains(status) else { throw .invalid("status is not a status of HTTP") }
        var fields = HTTPFields()
        for (name, value) in values.texts("headers") ?? [:] {
            guard let name = HTTPField.Name(name) else { throw .invalid("headers has a name that is no header field") }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }
}
