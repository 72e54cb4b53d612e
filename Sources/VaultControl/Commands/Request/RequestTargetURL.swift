import FoundationEssentials
import HTTPTypes
import OAuthClient

/// A URL that a token may be sent to.
struct RequestTargetURL {
    private let url: EndpointURL
    private let allowsInsecureLoopback: Bool

    init(_ text: String, allowsInsecureLoopback: Bool) throws(Failure) {
        self.allowsInsecureLoopback = allowsInsecureLoopback
        do throws(OAuthValueError) {
            url = try EndpointURL(text, allowsInsecureLoopback: allowsInsecureLoopback)
        } catch {
            if URL(string: text)?.user(percentEncoded: false) != nil {
                throw .usage(
                    "the URL names a user, and perhaps a password",
                    hint: "leave both out: a token is sent instead; if there was a password, assume that others have "
                        + "seen it")
            }
            guard error.code == .insecure else {
                throw .usage(
                    "this is not a URL to which a request can go",
                    hint: "use an absolute URL, percent-encoded, without user and fragment: https://api.example/me")
            }
            throw .usage(
                "a token goes to https URLs only",
                hint: Failure.loopbackHint)
        }
    }

    func request(_ content: RequestContent) -> HTTPRequest {
        HTTPRequest(
            method: content.method, scheme: url.scheme, authority: url.authority, path: url.requestTarget,
            headerFields: content.fields)
    }

    /// The target of a redirect, if the token may be sent there.
    func following(_ location: String) throws(Failure) -> RequestTargetURL {
        guard let text = URL(string: location, relativeTo: URL(string: url.rawValue))?.absoluteString,
            let next = try? EndpointURL(
                String(text.prefix { $0 != "#" }), allowsInsecureLoopback: allowsInsecureLoopback)
        else {
            throw Failure(
                .provider, code: "redirectRefused", "the server redirects to where no token may go",
                hints: ["see where: the same request without --follow, with --include"])
        }
        guard next.origin == url.origin else {
            throw Failure(
                .provider, code: "redirectRefused",
                "the server redirects to another one, \(Printable.shortened(next.origin, to: 200)); the token was not "
                    + "sent there",
                hints: ["if that is right, send a separate request to its URL"])
        }
        return try RequestTargetURL(next.rawValue, allowsInsecureLoopback: allowsInsecureLoopback)
    }
}
