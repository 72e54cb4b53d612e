import Testing
import VaultCrypto
import VaultStorage

@testable import TokenVault

struct TokenClassifierTests {
    static let epoch = Timestamp(milliseconds: 1_800_000_000_000)

    /// A token of this lifetime, judged when so much of it remains.
    private func classifier(lifetime: Duration?, remaining: Duration, rejected: Bool = false) -> TokenClassifier {
        let expiresAt = lifetime.map { Self.epoch.advanced(by: $0) }
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-a"), createdAt: Self.epoch,
            obtainedAt: Self.epoch, expiresAt: expiresAt)
        if rejected { session.rejectedGeneration = 3 }
        return TokenClassifier(
            position: ChainPosition(chain: 1, generation: 3), session: session,
            now: (expiresAt ?? Self.epoch).advanced(by: .zero - remaining))
    }

    @Test(arguments: [
        // lifetime, remaining, enough by default
        (3_600, 301, true), (3_600, 300, true), (3_600, 299, false),
        // A fifth of a short lifetime.
        (60, 13, true), (60, 12, true), (60, 11, false),
        (3_600, 0, false), (3_600, -10, false),
    ])
    func byDefaultFiveMinutesOrAFifthAreEnough(lifetime: Int, remaining: Int, isEnough: Bool) {
        let classifier = classifier(lifetime: .seconds(lifetime), remaining: .seconds(remaining))
        #expect(classifier.isEnough(for: .validity(nil)) == isEnough)
    }

    @Test func whatTheCallerAsksForCounts() {
        let classifier = classifier(lifetime: .seconds(3_600), remaining: .seconds(600))
        #expect(classifier.isEnough(for: .validity(.seconds(600))))
        #expect(!classifier.isEnough(for: .validity(.seconds(601))))
        #expect(classifier.isEnough(for: .validity(.zero)))
    }

    @Test func nobodyGetsMoreValidityThanATokenEverHas() {
        let fresh = classifier(lifetime: .seconds(60), remaining: .seconds(58))
        #expect(fresh.isEnough(for: .validity(.seconds(3_600))))
        let older = classifier(lifetime: .seconds(60), remaining: .seconds(50))
        #expect(!older.isEnough(for: .validity(.seconds(3_600))))
    }

    @Test func aTokenWithoutExpiryIsEnoughUntilItIsRejected() {
        #expect(classifier(lifetime: nil, remaining: .zero).isEnough(for: .validity(.seconds(99_999))))
        #expect(!classifier(lifetime: nil, remaining: .zero, rejected: true).isEnough(for: .validity(nil)))
        #expect(!classifier(lifetime: nil, remaining: .zero, rejected: true).isAcceptable(for: .validity(nil)))
    }

    @Test func oldTokenIsAcceptableForItsRemainingValidity() {
        let classifier = classifier(lifetime: .seconds(3_600), remaining: .seconds(100))
        #expect(classifier.isAcceptable(for: .validity(nil)))
        #expect(classifier.isAcceptable(for: .validity(.seconds(100))))
        #expect(!classifier.isAcceptable(for: .validity(.seconds(101))))
        #expect(!self.classifier(lifetime: .seconds(3_600), remaining: .zero).isAcceptable(for: .validity(nil)))
    }

    @Test func aNewerGenerationIsANewerGeneration() {
        let classifier = classifier(lifetime: .seconds(3_600), remaining: .seconds(3_000))
        #expect(classifier.isEnough(for: .newer(than: 2)))
        #expect(!classifier.isEnough(for: .newer(than: 3)))
    }
}
