import Crypto
import CryptoExtras
import Foundation
import OAuthClient
import Testing

/// How a client signs who it is, and to whom (RFC 7523 §3, RFC 7515 §4.1.8).
struct ClientAssertionKeyTests {
    private func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    /// The assertion that goes with a request: its header, its claims, what is signed, and the signature.
    private func assertion(
        _ key: ClientAssertionKey, profile: ProviderProfile = .generic, issuer: String? = "https://acme.example"
    ) async throws -> (header: JSONObject, claims: JSONObject, input: Data, signature: [UInt8]) {
        let binding = ServerBinding(
            profile: profile, tokenEndpoint: try Sample.endpoint(), clientID: try ClientID("client"),
            authentication: .privateKeyJWT(key), issuer: issuer)
        let transport = ScriptedTransport(reply(200, Sample.good()))
        let endpoint = TokenEndpoint(binding: binding, transport: transport, now: { Sample.start })
        _ = await endpoint.refresh(try Sample.exchange(), context: .init())
        let parts = try #require(transport.sent.first?.form["client_assertion"]).split(separator: ".")
        return (
            try JSONObject(document: try #require(Base64URL.decode(parts[0]))),
            try JSONObject(document: try #require(Base64URL.decode(parts[1]))),
            Data((parts[0] + "." + parts[1]).utf8), try #require(Base64URL.decode(parts[2]))
        )
    }

    @Test(arguments: [
        (ClientAssertionKey.Algorithm.rs256, false), (.ps256, false), (.rs256, true), (.ps256, true),
    ])
    func anRSAKeySignsInBothWays(algorithm: ClientAssertionKey.Algorithm, isTraditional: Bool) async throws {
        let key = try ClientAssertionKey(
            pem: isTraditional ? ClientKeySamples.traditional : ClientKeySamples.key, keyID: "k-1", algorithm: algorithm
        )
        #expect(key.isRSA)
        let sent = try await assertion(key)
        #expect(text(sent.header["alg"]) == algorithm.rawValue && text(sent.header["kid"]) == "k-1")
        #expect(sent.header["x5t#S256"] == nil)
        let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
        let publicKey = try _RSA.Signing.PublicKey(pemRepresentation: key.publicKeyPEM)
        #expect(
            publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: sent.signature), for: SHA256.hash(data: sent.input),
                padding: padding))
    }

    @Test func theCertificatesThumbprintGoesWithTheAssertion() async throws {
        let key = try ClientAssertionKey(pem: ClientKeySamples.certificate + "\n" + ClientKeySamples.key)
        #expect(key.algorithm == .rs256)
        let sent = try await assertion(key)
        // openssl x509 -outform DER | openssl dgst -sha256 -binary
        #expect(text(sent.header["x5t#S256"]) == ClientKeySamples.thumbprint)
        // What is stored of it is the same key again.
        let again = try ClientAssertionKey(pem: key.revealPEM())
        #expect(again == key && again.certificateThumbprint == ClientKeySamples.thumbprint)
        #expect(try again.signing(by: .ps256).certificateThumbprint == ClientKeySamples.thumbprint)
    }

    @Test func whatIsNoKeyOrAnothersCertificateIsRefused() {
        let (key, certificate) = (ClientKeySamples.key, ClientKeySamples.certificate)
        let ellipticKey = P256.Signing.PrivateKey().pemRepresentation
        for pem in [
            "", "key", certificate, key + "\n" + key, key + "\n" + ClientKeySamples.otherCertificate,
            ellipticKey + "\n" + certificate, key + "\n-----BEGIN X-----\nAAAA\n-----END X-----",
            String(repeating: " ", count: 32_769) + key,
        ] {
            #expect(throws: OAuthValueError.self) { try ClientAssertionKey(pem: pem) }
        }
        #expect(throws: OAuthValueError.self) { try ClientAssertionKey(pem: key, algorithm: .es256) }
        #expect(throws: OAuthValueError.self) { try ClientAssertionKey(pem: ellipticKey, algorithm: .rs256) }
    }

    @Test func anAssertionIsForTheIssuerWhereThatIsKnown() async throws {
        let key = try ClientAssertionKey(pem: P256.Signing.PrivateKey().pemRepresentation)
        #expect(text(try await assertion(key).claims["aud"]) == "https://acme.example")
        #expect(text(try await assertion(key, issuer: nil).claims["aud"]) == "https://server.example.com/token")
        let entra = try ProviderProfile.named("entra")
        #expect(text(try await assertion(key, profile: entra).claims["aud"]) == "https://server.example.com/token")
        #expect(entra.assertionAlgorithm == .ps256)
    }

    @Test func noRenderingShowsTheKey() throws {
        let key = try ClientAssertionKey(pem: ClientKeySamples.key)
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key) \(String(reflecting: key)) \(dumped)".contains("BEGIN"))
    }
}

/// Made for these tests by OpenSSL: a key of 2048 bits, in both forms, its certificate, and that of another key.
enum ClientKeySamples {
    static let thumbprint = "1oQ7Xu7I8-ugd3spq0wndFDMILsGCTvk92Nk7CYV_po"
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDpRmOTKWnHEm0o
        Ci957nPiLNIHA0XBh9P7Z877MxBGizAX3YfLOsyEl5cKkf3tV4xKWfpIIffeIF2x
        lEwDo0nVLEw9DGOxZkMCdGsBJA7Asu4ey97UboBbsccixpgw5JvCa8/g5f4l+koo
        Evv49cCMlNftELXQGULaJViWMRuzXPEy9B8rT3FXNyRiOHGrsqosyXFBYAk/9nkn
        NaWCKsGgouvhL01SwG8+1DX9uJS+5zrff9GpKVKTJfMhzS05lCoCcEYmixk2y/Xp
        9Tlcpc15rL5lYhQBxMDV2C1HmKDv6IdU1XlyUO8b7ZAJbOJ6DMsp3azyv8CXQbgz
        arF/vu3bAgMBAAECggEAUrADMtJertRuwd8eZhOqmxT1G8xCqS+a6gYpfaxjjAXh
        dcwuStEcVrGfNf1662r5jQ9o4rG7uU5yt7QP38g9LyWFHqyqF+NeRFv85AoiepbS
        RjNQ2K8Uq6wQINkRcF9QgPGTXa5Y0KBwMdVM4LpH1u0ZvuwJ7mpN4qKTTKW6onBV
        uOPl3PiS1VFoecpNq1+k+694jwypuhmPNexZKWHa5+M8hSgNkW2Wzj6Li1kgCj9f
        ElCNU7Pik0mPpelQbOblP9ZeU/M0DvtCyo4PGwuxw8m4/NgmK5hMH4uNxLdwXgNB
        4M4QOJ7FnJIwnT6edac/Em3pLiDNQIuMr68lIwyZiQKBgQD6a+Rhu+N2eZg0p5IE
        w71NgzkDPfAxK4ZZ3j+lgIliElAfVtlBkOeNakyTJF85sI3PpvKNR0MUjGi/mHNc
        di/WdM0EYw1SkFoPkETPOlCB4CbmTAAqKKPOVo8bAhxAOsTVck8FPFMY5GIRMoUE
        9Ql4Kr2HlFULUnWlXj1IrRK8qQKBgQDueLaoNOgEhToPyiK4ayzyyiUybZcOQFEC
        ZAlSmUPrp+6thpl69c9spqIY85SNAtcCnI6SSRR8ESbGCWGuF4rlCs0xEJkOTj+V
        w130qOlcr7ec543WyVC7qde7lzaeygxqlEzoQUPcXML5PUHCOFVmDcE6w4JKzP1t
        +JS6uhcE4wKBgFjnow47qVavdqUC9OkyIOv68WvAOp0KSclwCQKV7rBdtgpaSAlq
        C3r+SS9YE2Kk1sPpDmWv7hXGf4297v7disBFeV/cVqeATikGXBeCKYDidoz+YHSX
        NwiTXH0HM8Zt1uG8kmdWcl38/wACAo2u/Oynp+ARflvlq5TJL1K091j5AoGBAMgh
        VmljvTPN+yQ1J15N07MOIplnj1XOdC3ldk1zgqTKkmvegf/HOwSb832tLgYJVBhE
        +wGZgy971WZtiSRpbY86uWlr3Ic88+/jvX4OI4o9jYKIcWjIGpDjwMEV7ijkt/bZ
        7pEb9K+Cyb4RwpYUYNb8xCVk3nuX/TfFXkw20AqxAoGARdKDNCXe7TWLw98B76qf
        KUhaoUtt6TUhOQNUZ0iFjw8SKSHQHANWpGbX6TqxHHn114Lnw1yGgD9tVFz0ZV6g
        ZRzT/izfsZnMwpXLQOz680zw8Mjraqtc+j7Hw1MMGZL9P4B2UL/a8E8W3FFeGHlz
        fh8W09vjrXtFmzk+aXsq8Us=
        -----END PRIVATE KEY-----
        """
    static let traditional = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEA6UZjkylpxxJtKAovee5z4izSBwNFwYfT+2fO+zMQRoswF92H
        yzrMhJeXCpH97VeMSln6SCH33iBdsZRMA6NJ1SxMPQxjsWZDAnRrASQOwLLuHsve
        1G6AW7HHIsaYMOSbwmvP4OX+JfpKKBL7+PXAjJTX7RC10BlC2iVYljEbs1zxMvQf
        K09xVzckYjhxq7KqLMlxQWAJP/Z5JzWlgirBoKLr4S9NUsBvPtQ1/biUvuc633/R
        qSlSkyXzIc0tOZQqAnBGJosZNsv16fU5XKXNeay+ZWIUAcTA1dgtR5ig7+iHVNV5
        clDvG+2QCWziegzLKd2s8r/Al0G4M2qxf77t2wIDAQABAoIBAFKwAzLSXq7UbsHf
        HmYTqpsU9RvMQqkvmuoGKX2sY4wF4XXMLkrRHFaxnzX9eutq+Y0PaOKxu7lOcre0
        D9/IPS8lhR6sqhfjXkRb/OQKInqW0kYzUNivFKusECDZEXBfUIDxk12uWNCgcDHV
        TOC6R9btGb7sCe5qTeKik0yluqJwVbjj5dz4ktVRaHnKTatfpPuveI8MqboZjzXs
        WSlh2ufjPIUoDZFtls4+i4tZIAo/XxJQjVOz4pNJj6XpUGzm5T/WXlPzNA77QsqO
        DxsLscPJuPzYJiuYTB+LjcS3cF4DQeDOEDiexZySMJ0+nnWnPxJt6S4gzUCLjK+v
        JSMMmYkCgYEA+mvkYbvjdnmYNKeSBMO9TYM5Az3wMSuGWd4/pYCJYhJQH1bZQZDn
        jWpMkyRfObCNz6byjUdDFIxov5hzXHYv1nTNBGMNUpBaD5BEzzpQgeAm5kwAKiij
        zlaPGwIcQDrE1XJPBTxTGORiETKFBPUJeCq9h5RVC1J1pV49SK0SvKkCgYEA7ni2
        qDToBIU6D8oiuGss8solMm2XDkBRAmQJUplD66furYaZevXPbKaiGPOUjQLXApyO
        kkkUfBEmxglhrheK5QrNMRCZDk4/lcNd9KjpXK+3nOeN1slQu6nXu5c2nsoMapRM
        6EFD3FzC+T1BwjhVZg3BOsOCSsz9bfiUuroXBOMCgYBY56MOO6lWr3alAvTpMiDr
        +vFrwDqdCknJcAkCle6wXbYKWkgJagt6/kkvWBNipNbD6Q5lr+4Vxn+Nve7+3YrA
        RXlf3FangE4pBlwXgimA4naM/mB0lzcIk1x9BzPGbdbhvJJnVnJd/P8AAgKNrvzs
        p6fgEX5b5auUyS9StPdY+QKBgQDIIVZpY70zzfskNSdeTdOzDiKZZ49VznQt5XZN
        c4KkypJr3oH/xzsEm/N9rS4GCVQYRPsBmYMve9VmbYkkaW2POrlpa9yHPPPv471+
        DiOKPY2CiHFoyBqQ48DBFe4o5Lf22e6RG/Svgsm+EcKWFGDW/MQlZN57l/03xV5M
        NtAKsQKBgEXSgzQl3u01i8PfAe+qnylIWqFLbek1ITkDVGdIhY8PEikh0BwDVqRm
        1+k6sRx59deC58NchoA/bVRc9GVeoGUc0/4s37GZzMKVy0Ds+vNM8PDI62qrXPo+
        x8NTDBmS/T+AdlC/2vBPFtxRXhh5c34fFtPb4617RZs5Pml7KvFL
        -----END RSA PRIVATE KEY-----
        """
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIDBTCCAe2gAwIBAgIUT/0RsVuudzagTwHtkeb9Nrlr5dYwDQYJKoZIhvcNAQEL
        BQAwETEPMA0GA1UEAwwGY2xpZW50MCAXDTI2MTEyMjA5NDgwOVoYDzIxMjYxMDI5
        MDk0ODA5WjARMQ8wDQYDVQQDDAZjbGllbnQwggEiMA0GCSqGSIb3DQEBAQUAA4IB
        DwAwggEKAoIBAQDpRmOTKWnHEm0oCi957nPiLNIHA0XBh9P7Z877MxBGizAX3YfL
        OsyEl5cKkf3tV4xKWfpIIffeIF2xlEwDo0nVLEw9DGOxZkMCdGsBJA7Asu4ey97U
        boBbsccixpgw5JvCa8/g5f4l+kooEvv49cCMlNftELXQGULaJViWMRuzXPEy9B8r
        T3FXNyRiOHGrsqosyXFBYAk/9nknNaWCKsGgouvhL01SwG8+1DX9uJS+5zrff9Gp
        KVKTJfMhzS05lCoCcEYmixk2y/Xp9Tlcpc15rL5lYhQBxMDV2C1HmKDv6IdU1Xly
        UO8b7ZAJbOJ6DMsp3azyv8CXQbgzarF/vu3bAgMBAAGjUzBRMB0GA1UdDgQWBBSS
        70HUPx9IT/fh0LhGhlGBVTEdGTAfBgNVHSMEGDAWgBSS70HUPx9IT/fh0LhGhlGB
        VTEdGTAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQCCucKjfwMt
        wBmNY57gdrH/nUdfVywO/Hx5JufRUolxSshzxZzzfhfg7KWLsy7A3Tbfd9Ho3QH+
        V4Chrc6SAayQbiBDLvVejnkv59QRXOSV5ovMUFucnVxoiuG52hFIQkns3fUvDv0Q
        GaSpP/Nj87xwA/gBIDwtipEQHIsr2vXFtyk6GVmDf/8kflouOuWjN3BM/cJIVt/2
        hKr+lVXadzg9cPXPIFB5sxaweDQpWsaHo1zIxIS6XP+Xw5vpjop56RjU7KWuCrrB
        PZ+FxRVQTS5fJOjftgmXBv0t/ufmVEThiuwaVwC0Voxg0XL9oPRTsct8MJ8kvfet
        W5BZvqxswoRM
        -----END CERTIFICATE-----
        """
    static let otherCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIDAzCCAeugAwIBAgIUJbIiDhwnyiw63dh970gDjBJBSOIwDQYJKoZIhvcNAQEL
        BQAwEDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTIyMDk0ODEwWhgPMjEyNjEwMjkw
        OTQ4MTBaMBAxDjAMBgNVBAMMBW90aGVyMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A
        MIIBCgKCAQEArKQ8ETJ2yLfs7EznOCSD5K1JcGdrNJc8O7gJqrMGBGINGQ4HmyDJ
        xzDXNw1mj5arX+dt63mlGHH5w7b/BXdfzBP+Pfu4fcJSjHLuEi2z0nCaYOM5iypF
        Y3Jb0ZXd5XFDfwEZnCDQP7/oAwZmZuDrTFLyHO5GNHWpZxGOm7ZaAAXkE8NmYVli
        Okb+hPQzzLHlXMRSMFEusu0xB2Vp/++a85+S8oaPY3Bx+RScJ92cWkE5drBmi4l1
        Te8Ns9s2uCG6L6qLWOApji1mKEq2T5SX1zKZxxJ47IOBQNqOKZkhHEtE/3OB2rWX
        c6nd40yy3MoJc13wgbh6bB3JnIZbb4nk4wIDAQABo1MwUTAdBgNVHQ4EFgQUF5rr
        aJ243IKd+cIZyK4vevdyDKQwHwYDVR0jBBgwFoAUF5rraJ243IKd+cIZyK4vevdy
        DKQwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAqLiMbaZ5cei0
        Rmk6Pum8tP6TaLwKmwe6pJfcQrPuokwm8pMI6gzvbBV781sN4fxPm1A21m/YmtgO
        atS6kX4QJ/Y+OzJhLB7LbUeLmtQqJ16rlNtGgnjlrqwC6Nch9sZG/WIeT79+AOSw
        j7I6kyVbCwkT3Ot2/kfUqn/nLGB+GrzFwe+K6Qg9ilr7IYTpzlfE6K0KEn2mF1w2
        sju+VgtsDeIJvgemZ4TJoayney1t1Jt00f5Cy3TEOCzQJzRJZy5pz53AOVMAf0JI
        h43CdgFMf2Fce6bVTvGZ4XMQ47ajRtKKBo7R91WlMVVc2zgiGuuh9tV2WBJ+3Kbj
        Q3Fl33SAeA==
        -----END CERTIFICATE-----
        """
}
