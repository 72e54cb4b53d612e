import Testing
import VaultCrypto

@testable import VaultStorage

struct SessionExtrasTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private static func session() -> SessionRecord {
        SessionRecord(state: .established, createdAt: now, obtainedAt: now)
    }

    /// A login whose session equals the stored one is not written again.
    @Test func clearedSessionEqualsOneThatWasNeverSet() {
        var session = Self.session()
        session.label = "home"
        session.metadata = ["plan": "gold"]
        session.attributes = ["instance_url": "https://one.example"]
        #expect(session != Self.session())
        session.label = nil
        session.metadata = [:]
        session.attributes = [:]
        #expect(session == Self.session())
    }

    @Test func aCopyKeepsWhatItHadWhenTheOtherChanges() {
        var session = Self.session()
        session.grantedScope = "read"
        let copy = session
        session.grantedScope = "read write"
        session.subject = "alice"
        #expect(copy.grantedScope == "read")
        #expect(copy.subject == nil)
        #expect(session.grantedScope == "read write")
    }

    @Test func sessionsWithTheSameExtrasAreEqualWhereverTheyLie() {
        func made() -> SessionRecord {
            var session = Self.session()
            session.subject = "alice"
            session.resourceTokens = [
                TokenRecord(
                    target: TokenTarget(resource: "https://api.example"), accessToken: SecretBytes(utf8: "token"),
                    obtainedAt: Self.now, generation: 2)
            ]
            return session
        }
        #expect(made() == made())
        var other = made()
        other.resourceTokens[0].isRejected = true
        #expect(made() != other)
    }
}
