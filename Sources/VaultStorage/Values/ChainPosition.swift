/// A login's position: its chain of refresh tokens, and the number of links that are durably stored.
///
/// A renewal compares and swaps on it: the position read before the request must be the one found after it.
package struct ChainPosition: Hashable, Sendable {
    /// A counter of the login, incremented whenever a new grant replaces the old chain.
    package var chain: Int64
    /// Starts at 1 and never decreases, even when a new chain begins.
    package var generation: Int64

    package init(chain: Int64, generation: Int64) {
        self.chain = chain
        self.generation = generation
    }

    package static let first = ChainPosition(chain: 1, generation: 1)

    /// The next link of the same chain.
    package var successor: ChainPosition { ChainPosition(chain: chain, generation: generation + 1) }
    /// The first link of a chain that replaces this one.
    package var newChain: ChainPosition { ChainPosition(chain: chain + 1, generation: generation + 1) }
}
