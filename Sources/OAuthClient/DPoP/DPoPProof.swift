import Crypto
public import FoundationEssentials
public import HTTPTypes

/// Proves that the sender of a request holds a private key (RFC 9449 §4). Each request needs its own proof, retries
/// included.
public struct DPoPProof: Sendable, CustomStringConvertible, CustomReflectable {
    /// The JWT for the `DPoP` header field.
    public let rawValue: String

    /// Signs a proof for one request.
    ///
    /// - Parameters:
    ///   - key: the key that the token is bound to, or will be bound to. Its public half is in the proof's header.
    ///   - method: the method of the request (`htm`).
    ///   - url: the raw, percent-encoded URL of the request. `htu` omits query and fragment; scheme and host become
    ///     lower case, and nothing is decoded.
    ///   - issuedAt: our clock, corrected by the server's known offset; `iat` has whole seconds.
    ///   - nonce: the latest one that this server sent in `DPoP-Nonce` (§8, §9); nil if it has sent none.
    ///   - accessToken: for requests to a resource server, the token sent with the proof (`ath`, §4.2).
    /// - Throws: ``OAuthValueError`` for a URL that is neither `http` nor `https`, or if the key cannot sign.
    public static func sign(
        key: DPoPKey, method: HTTPRequest.Method, url: String, issuedAt: Date, nonce: DPoPNonce? = nil,
        accessToken: AccessToken? = nil
    ) throws(OAuthValueError) -> DPoPProof {
        guard let target = try? RawURL(url) else { throw OAuthValueError(.malformed, "request URL") }
        // 128 random bits: a server rejects an identifier that it has seen before (§11.1).
        return try sign(
            key: key, method: method, target: target, issuedAt: issuedAt, nonce: nonce, accessToken: accessToken,
            identifier: RandomText.make(byteCount: 16))
    }

    static func sign(
        key: DPoPKey, method: HTTPRequest.Method, target: RawURL, issuedAt: Date, nonce: DPoPNonce?,
        accessToken: AccessToken?, identifier: String
    ) throws(OAuthValueError) -> DPoPProof {
        // No member can contain a quote, a backslash or a control character, so nothing needs an escape: methods,
        // nonces and URLs are validated when they are made.
        let seconds = Int64(min(max(issuedAt.timeIntervalSince1970, 0), 1e12))
        var claims: [UInt8] = []
        claims.reserveCapacity(512)
        for text in [
            #"{"jti":""#, identifier, #"","htm":""#, method.rawValue, #"","htu":""#, target.withoutQuery, #"","iat":"#,
            String(seconds),
        ] { claims += text.utf8 }
        if let nonce { claims += #","nonce":"\#(nonce.rawValue)""#.utf8 }
        if let accessToken {
            claims += #","ath":""#.utf8
            claims += hash(of: accessToken).utf8
            claims.append(UInt8(ascii: "\""))
        }
        claims.append(UInt8(ascii: "}"))
        var proof = Array(key.encodedHeader.utf8)
        proof.append(UInt8(ascii: "."))
        Base64URL.append(claims, to: &proof)
        do {
            // r ‖ s, 64 bytes, not DER (RFC 7518 §3.4).
            let signature = try key.signingKey.signature(for: proof)
            proof.append(UInt8(ascii: "."))
            Base64URL.append(Array(signature.rawRepresentation), to: &proof)
            return DPoPProof(rawValue: String(decoding: proof, as: UTF8.self))
        } catch {
            throw OAuthValueError(.malformed, "DPoP key")
        }
    }

    /// `ath`: the hash of the access token (§4.2).
    package static func hash(of accessToken: AccessToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(accessToken.reveal().utf8)))
    }

    public var description: String { "<DPoP proof>" }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
