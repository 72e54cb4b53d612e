import HTTPTypes
import Hummingbird
import TokenVault

/// Short JSON replies.
enum Answer {
    static func json(_ status: HTTPResponse.Status, _ members: KeyValuePairs<String, String>) -> Response {
        let body = members.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "{\(body)}\n")))
    }

    /// How a person or a program can react to an error of the vault. Its sentence contains no secret and names no
    /// person.
    static func error(_ error: VaultError) -> Response {
        switch error.code {
        case .refreshFailed, .lostResponse, .needsUserInteraction, .notLoggedIn, .unknownLogin, .notRefreshable:
            // The provider's answer is final: only the user can help.
            return json(.unauthorized, ["error": "log_in_again", "reason": error.code.name, "go_to": "/login"])
        case .logInNotBound:
            return json(.forbidden, ["error": "this browser did not begin this log-in"])
        case .userDisabled:
            return json(.forbidden, ["error": "disabled"])
        case .logInRefused, .unknownAuthorizationRequest, .invalidArgument:
            return json(.badRequest, ["error": error.code.name])
        case .tryLater, .network, .deadlineExceeded, .refreshStalled, .busy, .closed:
            var response = json(.serviceUnavailable, ["error": "try_later", "reason": error.code.name])
            let seconds = (error.retryAfter?.components.seconds).map { $0 + 1 } ?? 5
            response.headers[.retryAfter] = String(seconds)
            return response
        default:
            return json(.internalServerError, ["error": error.code.name])
        }
    }
}
