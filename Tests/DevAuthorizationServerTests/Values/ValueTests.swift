import Foundation
import Testing

@testable import DevAuthorizationServer

struct ValueTests {
    /// RFC 7636, appendix B.
    @Test func challengeMatchesTheVector() {
        #expect(
            PKCE.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    /// The proof of RFC 9449 §4.1 and its thumbprint of §6.1.
    @Test func proofOfTheRFCVerifies() throws {
        let text = """
            eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs\
            cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2\
            In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2V\
            uIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37x\
            RZT3Lg
            """
        let proof = try DPoPProof(parsing: text)
        #expect(proof.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(proof.identifier == "-BwC3ESc6acc2lTc")
        #expect(proof.target == "https://server.example.com/token")
    }

    @Test(arguments: [
        ("http://a", "http://a/"), ("HTTP://A:80/x", "http://a/x"), ("https://a:443/", "https://a"),
        ("http://a/%7eb", "http://a/~b"), ("http://a/%2f", "http://a/%2F"), ("http://a/b/./c", "http://a/b/c"),
        ("http://a/b/../c", "http://a/c"), ("http://a/b/..", "http://a/"), ("http://a/b?q#f", "http://a/b"),
    ])
    func spellingsOfOneTargetAreEqual(left: String, right: String) throws {
        let target = try #require(TargetURI(left))
        #expect(target == TargetURI(right))
    }

    @Test(arguments: [
        ("http://a/b", "http://a/b/"), ("http://a/b", "http://a/B"), ("http://a", "https://a"),
        ("http://a:81", "http://a"), ("http://a/%2F", "http://a//"),
    ])
    func differentTargetsAreNot(left: String, right: String) throws {
        let target = try #require(TargetURI(left))
        #expect(target != TargetURI(right))
    }

    @Test(arguments: ["", "/x", "ftp://a", "http://", "http://u@a/", "http://a/%zz", "http://a/%f"])
    func otherTextIsNoTarget(text: String) {
        #expect(TargetURI(text) == nil)
    }

    @Test(arguments: ["A", "AB==", "A+", "A/", "AB", "=", "é"])
    func base64URLHasOneSpelling(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func datesAreIMFFixdates() {
        #expect(Moment(milliseconds: 784_111_777_000).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
