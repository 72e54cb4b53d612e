import ProviderCatalogue
import Testing

/// A file that someone else wrote must never end the program, whatever is in it.
struct CatalogueMutationTests {
    private static let catalogue = """
        # of no one
        one: &
        acme:
            display_name: 'Acme''s'
            auth_mode: OAUTH2
            authorization_url: https://${connectionConfig.shop}.acme.example/authorize || https://acme.example/a
            token_url: {OAUTH2: "https://acme.example/\\u0074oken"}
            authorization_params: {response_type: code, a: '${connectionConfig.b}'}
            default_scopes:
            - read
            - - x
            text: >-
                one

                  two
        other:
            alias: acme
        """
    private static let pieces = [
        "\n", "  ", ": ", "- ", "'", "\"", "[", "]", "{", "}", ",", "#", "|", ">", "&", "${", "||", "\\", "\t", "\u{0}",
        "é", "alias: other", "https://", "connectionConfig.", "?", "%", ".", "-", "~", "|9", "\r",
    ]

    private struct Randomness: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private static func mutated(_ bytes: [UInt8], _ random: inout Randomness) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.removeSubrange(at..<end)
            case 1: bytes.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: at)
            case 2: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes.replaceSubrange(at..<end, with: [UInt8.random(in: 0...255, using: &random)])
            default: bytes.removeSubrange(at...)
            }
            if bytes.isEmpty { bytes = [0x61] }
        }
        return bytes
    }

    @Test func mutatedCataloguesAreReadOrNameALine() throws {
        let valid = Array(Self.catalogue.replacing("one: &\n", with: "").utf8)
        #expect(try NangoProvider.all(in: valid).count == 2)
        var random = Randomness(state: 42)
        var (read, refused, converted) = (0, 0, 0)
        for round in 0..<20_000 {
            let bytes = Self.mutated(round.isMultiple(of: 8) ? Array(Self.catalogue.utf8) : valid, &random)
            let lines = bytes.count { $0 == 0x0A } + 1
            do throws(CatalogueError) {
                for provider in try NangoProvider.all(in: bytes) {
                    if (try? NangoConversion.profile(of: provider, read: "2026-11-28")) != nil { converted += 1 }
                }
                read += 1
            } catch {
                refused += 1
                let ofTheWhole = ["expected entries by name", "no entry has an auth_mode"]
                let isNamed = error.line.map { (1...lines).contains($0) } ?? ofTheWhole.contains(error.message)
                #expect(isNamed, "round \(round): \(error)")
            }
        }
        #expect(read > 1_000 && refused > 1_000 && converted > 1_000, "\(read) \(refused) \(converted)")
    }
}
