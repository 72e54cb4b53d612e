/// One question whether the user has approved (RFC 8628 §3.4).
package struct DeviceCodeRequest: Sendable {
    package var deviceCode: DeviceCode
    /// Where the server asks devices for PKCE, too.
    package var codeVerifier: CodeVerifier?
    package var dpop: DPoPContext?
    /// Where the access token is to be used (RFC 8707 §2). Empty: wherever the grant says.
    package var resources: [String] = []

    package init(deviceCode: DeviceCode, codeVerifier: CodeVerifier? = nil, dpop: DPoPContext? = nil) {
        self.deviceCode = deviceCode
        self.codeVerifier = codeVerifier
        self.dpop = dpop
    }
}
