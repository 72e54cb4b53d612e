import Foundation

/// What the TLS servers of these tests show: all self-signed with one key that is good for nothing else.
enum Certificate: CaseIterable, Sendable {
    case localhost, otherName, expired, notYetValid

    /// EC on P-256. Made for this file; it protects nothing.
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3REK6DmGQky+TQMC
        Q+okedZ3wjtOZw3yYn0Xj2E7KRGhRANCAATQzUmClMO4UhHeRmCflUcgofIZppPp
        mIYFfLAZdj5kk89d9Hg/whd4mOjNnjl3CnMyOzmsOTiOiIkdUYME6hVV
        -----END PRIVATE KEY-----
        """

    var pem: String {
        switch self {
        case .localhost: Self.localhostPEM
        case .otherName: Self.otherNamePEM
        case .expired: Self.expiredPEM
        case .notYetValid: Self.notYetValidPEM
        }
    }

    /// For `localhost`, from 2020 to 2120.
    private static let localhostPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBajCCARCgAwIBAgIUX1oV13pCqykgpWAtpXXLEz1Xd+8wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATQzUmClMO4UhHeRmCflUcgofIZppPpmIYFfLAZdj5kk89d9Hg/whd4
        mOjNnjl3CnMyOzmsOTiOiIkdUYME6hVVoz4wPDAUBgNVHREEDTALgglsb2NhbGhv
        c3QwDwYDVR0TAQH/BAUwAwEB/zATBgNVHSUEDDAKBggrBgEFBQcDATAKBggqhkjO
        PQQDAgNIADBFAiAbTI/KzFTCbP9ok8a7E72pEIffnuKUzeRAxI8EBwfKvQIhAMUF
        u4ZBbyzxcUuwPKK+DOaQA3xBDkjnLCJS6Hnc5AxJ
        -----END CERTIFICATE-----
        """

    /// For `other.example`, from 2020 to 2120.
    private static let otherNamePEM = """
        -----BEGIN CERTIFICATE-----
        MIIBdzCCARygAwIBAgIUVNNbvt6XNIEduMAC/UUaBi6tbOMwCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIw
        MDEwMTAwMDAwMFowGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABNDNSYKUw7hSEd5GYJ+VRyCh8hmmk+mYhgV8sBl2PmST
        z130eD/CF3iY6M2eOXcKczI7Oaw5OI6IiR1RgwTqFVWjQjBAMBgGA1UdEQQRMA+C
        DW90aGVyLmV4YW1wbGUwDwYDVR0TAQH/BAUwAwEB/zATBgNVHSUEDDAKBggrBgEF
        BQcDATAKBggqhkjOPQQDAgNJADBGAiEAoDRXcBwXY6sdfOwgEOdn5nktggvl4sQg
        l+CvdkZZ0jkCIQD25fLDGWrczbrEz2phWzhVocLK6+EgREZesA64BYWaFw==
        -----END CERTIFICATE-----
        """

    /// For `localhost`, until the first day of 2021.
    private static let expiredPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBaDCCAQ6gAwIBAgIUEvfnUwecNKC266iZ6vXlmG8jdDwwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAw
        MDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAE0M1JgpTDuFIR3kZgn5VHIKHyGaaT6ZiGBXywGXY+ZJPPXfR4P8IXeJjo
        zZ45dwpzMjs5rDk4joiJHVGDBOoVVaM+MDwwFAYDVR0RBA0wC4IJbG9jYWxob3N0
        MA8GA1UdEwEB/wQFMAMBAf8wEwYDVR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0E
        AwIDSAAwRQIhANRUrxClV+ZhEXYrLHHlsFeqbsF5lJd+jimWJyUWI/VaAiA4IS2m
        ssTNErdiQZnSXRCzNbkRoHOy/0w+5lRoiTAy2g==
        -----END CERTIFICATE-----
        """

    /// For `localhost`, from the first day of 2110.
    private static let notYetValidPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBbDCCARKgAwIBAgIUXLJPL4gjXov6EKMZ9RJM8Rd/NhgwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCIYDzIxMTAwMTAxMDAwMDAwWhgPMjEyMDAx
        MDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABNDNSYKUw7hSEd5GYJ+VRyCh8hmmk+mYhgV8sBl2PmSTz130eD/C
        F3iY6M2eOXcKczI7Oaw5OI6IiR1RgwTqFVWjPjA8MBQGA1UdEQQNMAuCCWxvY2Fs
        aG9zdDAPBgNVHRMBAf8EBTADAQH/MBMGA1UdJQQMMAoGCCsGAQUFBwMBMAoGCCqG
        SM49BAMCA0gAMEUCIEG1WHzeyLjuCpOiF+p2AOqE6IAZ7jEdHgCiV0Y8XhefAiEA
        5fsUWSgnLLkoKgtMVKzn+59n1Txy6LavwJ53Ub4XDtw=
        -----END CERTIFICATE-----
        """
}
