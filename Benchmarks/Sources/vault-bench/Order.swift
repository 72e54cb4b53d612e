/// The users in the order in which they are asked for: the same for both programs (xorshift64, then modulo).
struct Order: RandomNumberGenerator {
    private var state: UInt64
    private let users: UInt64

    init(seed: UInt64, users: Int) {
        state = seed | 1
        self.users = UInt64(users)
    }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func nextUser() -> Int { Int(next() % users) }

    func users(_ count: Int) -> [String] {
        var order = self
        return (0..<count).map { _ in Workload.userId(order.nextUser()) }
    }
}
