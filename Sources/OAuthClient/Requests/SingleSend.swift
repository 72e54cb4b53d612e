import HTTPTypes

extension HTTPTransport {
    /// Sends once and waits for the end even if the calling task is cancelled meanwhile: once a byte may have been
    /// sent, the reply may hold the only copy of the next refresh token.
    func sendToTheEnd(
        _ form: FormRequest, limits: HTTPLimits, showing certificate: ClientCertificate?
    ) async -> EndpointReply {
        await Task { () -> EndpointReply in
            do throws(HTTPTransportError) {
                return .reply(try await exchange(form.request, body: form.body, limits: limits, showing: certificate))
            } catch {
                return .failure(error)
            }
        }.value
    }
}
