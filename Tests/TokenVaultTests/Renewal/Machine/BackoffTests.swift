import Testing

@testable import TokenVault

struct BackoffTests {
    @Test(arguments: [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (1_000, 300)])
    func theBackoffDoublesUpToItsBound(failures: Int, seconds: Int) {
        let all = Backoff.renewal.pause(afterFailures: failures, random: 1)
        #expect(all == .seconds(seconds))
        #expect(Backoff.renewal.pause(afterFailures: failures, random: 0) == all / 2)
    }

    @Test func whatTheServerAsksIsObeyedUpToAnHour() {
        let asked = Backoff.renewal.pause(afterFailures: 1, retryAfter: .seconds(120), random: 0)
        #expect(asked == .seconds(120))
        let absurd = Backoff.renewal.pause(afterFailures: 1, retryAfter: .seconds(1_000_000_000), random: 0.9)
        #expect(absurd == .seconds(3_600))
        let negative = Backoff.renewal.pause(afterFailures: 1, retryAfter: .seconds(-5), random: 1)
        #expect(negative == .seconds(1))
    }
}
