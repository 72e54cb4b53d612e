import Foundation
import FuzzTargets
import Testing

/// Every input of `Fuzz/Corpus`, every prefix of it, and some neighbours: what holds for a fuzzer holds here.
struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Fuzz/Corpus")

    private static func inputs(of target: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpus.appending(path: target)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
            .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyInputHolds(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: name)
        #expect(!inputs.isEmpty)
        var count = 0
        for input in inputs {
            for bytes in [input.bytes] + Self.neighbours(of: input.bytes) {
                if let finding = target.finding(for: bytes) { Issue.record("\(input.name): \(finding)") }
                count += 1
            }
        }
        print("corpus of \(name): \(inputs.count) inputs, \(count) executions")
    }

    /// Cut short, and with one byte replaced, at up to 64 places each.
    private static func neighbours(of bytes: [UInt8]) -> [[UInt8]] {
        let step = max(1, bytes.count / 64)
        return stride(from: 0, to: bytes.count, by: step).flatMap { index in
            var changed = bytes
            changed[index] ^= 0x80 >> UInt8(index % 8)
            return [Array(bytes[..<index]), changed]
        }
    }
}
