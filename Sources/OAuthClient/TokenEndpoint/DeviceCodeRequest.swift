/// One poll whether the user has approved (RFC 8628 §3.4).
package struct DeviceCodeRequest: Sendable {
    package var deviceCode: DeviceCode
    /// For servers that require PKCE of devices too.
    package var codeVerifier: CodeVerifier?
    package var dpop: DPoPContext?
    /// The APIs that the access token is for (RFC 8707 §2). Empty for all that the grant allows.
    package var resources: [String] = []

    package init(deviceCode: DeviceCode, codeVerifier: CodeVerifier? = nil, dpop: DPoPContext? = nil) {
        self.deviceCode = deviceCode
        self.codeVerifier = codeVerifier
        self.dpop = dpop
    }
}
