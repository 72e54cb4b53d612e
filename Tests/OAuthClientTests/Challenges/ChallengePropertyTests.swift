import OAuthClient
import TestSupport
import Testing

/// Challenges written in every way the grammar allows are read as they were meant; whatever else comes, nothing traps.
struct ChallengePropertyTests {
    private struct Model: Equatable {
        var scheme: String
        var token68: String?
        var parameters: [String: String] = [:]
    }

    private static let tokenText = "ABCxyz019!#$%&'*+-.^_`|~"
    private static let quotedText = tokenText + " ,=\"\\\t/()<>@;:?[]{}\u{E9}"

    private func text(_ alphabet: String, _ range: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
        let characters = Array(alphabet)
        return String(
            (0..<Int.random(in: range, using: &random)).map { _ in characters.randomElement(using: &random) ?? "a" })
    }

    private func blank(_ random: inout SeededGenerator) -> String {
        ["", "", " ", "\t", "  "].randomElement(using: &random) ?? ""
    }

    private func makeModel(_ random: inout SeededGenerator) -> Model {
        var model = Model(scheme: text(Self.tokenText, 1...8, &random).lowercased())
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1:
            model.token68 =
                text("abcXYZ09-._~+/", 1...12, &random) + (["", "=", "=="].randomElement(using: &random) ?? "")
        default:
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let name = text(Self.tokenText, 1...6, &random).lowercased()
                model.parameters[name] = text(Self.quotedText, 0...12, &random)
            }
        }
        return model
    }

    private func write(_ model: Model, _ random: inout SeededGenerator) -> String {
        let scheme = String(
            model.scheme.map { Bool.random(using: &random) ? Character($0.uppercased()) : $0 })
        if let token68 = model.token68 { return scheme + " " + token68 }
        let parameters = model.parameters.map { name, value -> String in
            let isToken = !value.isEmpty && value.allSatisfy { Self.tokenText.contains($0) }
            var written = "\""
            for character in value {
                let mustEscape = character == "\"" || character == "\\"
                written += (mustEscape || Int.random(in: 0..<8, using: &random) == 0 ? "\\" : "") + String(character)
            }
            written += "\""
            if isToken, Bool.random(using: &random) { written = value }
            return name + blank(&random) + "=" + blank(&random) + written
        }
        let empty = [",", ", ,", " , ", ",\t"]
        return scheme + (parameters.isEmpty ? "" : " ")
            + parameters.shuffled(using: &random).reduce("") { list, next in
                list.isEmpty ? next : list + (empty.randomElement(using: &random) ?? ",") + next
            }
    }

    @Test func whatIsWrittenIsRead() {
        var random = SeededGenerator(seed: 11)
        var count = 0
        for _ in 0..<3_000 {
            let models = (0..<Int.random(in: 1...5, using: &random)).map { _ in makeModel(&random) }
            // Each into a field of its own, or behind a comma of the one before.
            var fields: [String] = []
            for model in models {
                let written = write(model, &random)
                if let last = fields.last, Bool.random(using: &random) {
                    fields[fields.count - 1] = last + blank(&random) + "," + blank(&random) + written
                } else {
                    fields.append(written)
                }
            }
            let read = AuthenticationChallenge.all(in: fields).map {
                Model(scheme: $0.scheme, token68: $0.token68, parameters: $0.parameters)
            }
            #expect(read == models, "\(fields)")
            count += models.count
        }
        print("property test: \(count) challenges written and read")
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 12)
        let pieces = [
            "Bearer", "DPoP", " ", ",", "=", "\"", "\\", "error", "use_dpop_nonce", "\t", "a", "==", "\u{7F}", "\u{0}",
            "é", "/", "@",
        ]
        for _ in 0..<20_000 {
            let value = (0..<Int.random(in: 0...24, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            for challenge in AuthenticationChallenge.all(in: [value, value]) {
                #expect(!challenge.scheme.isEmpty && challenge.scheme == challenge.scheme.lowercased())
                #expect(challenge.token68 == nil || challenge.parameters.isEmpty)
            }
        }
        print("property test: 20000 random challenge fields")
    }
}

/// A fixed seed, so that a failure comes back.
