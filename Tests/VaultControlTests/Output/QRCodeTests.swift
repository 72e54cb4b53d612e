import Foundation
import TestSupport
import Testing

@testable import VaultControl

struct QRCodeTests {
    private static let decoder = "/usr/bin/zbarimg"

    /// Texts of the greatest length that each version holds.
    private static let lengths = [
        14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
    ]

    @Test func eachVersionHoldsWhatTheStandardSays() throws {
        for (index, length) in Self.lengths.enumerated() {
            #expect(try #require(QRCode(String(repeating: "a", count: length))).size == index * 4 + 21)
            let next = QRCode(String(repeating: "a", count: length + 1))
            #expect(next.map(\.size) == (index == 19 ? nil : index * 4 + 25))
        }
    }

    @Test func aLineHasTwoRowsAndAQuietZone() throws {
        let code = try #require(QRCode("https://acme.example/device"))
        let plain = code.lines(isRich: false)
        #expect(plain.count == (code.size + 8 + 1) / 2)
        #expect(Set(plain.map(\.count)) == [code.size + 8])
        // On a dark terminal what is light is drawn.
        #expect(plain[0].allSatisfy { $0 == "█" })
        #expect(plain[2].dropFirst(4).first == " ")
        let rich = code.lines(isRich: true)
        #expect(rich[0].hasPrefix("\u{1B}[38;5;16;48;5;231m "))
        #expect(rich[0].hasSuffix(" \u{1B}[0m"))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: decoder)), arguments: lengths)
    func anotherDecoderReadsIt(length: Int) throws {
        let address = "https://acme.example/device?user_code=WDJB-MJHT&x="
        let text =
            length < address.count
            ? String(address.prefix(length)) : address.padding(toLength: length, withPad: "aB3-_", startingAt: 0)
        let code = try #require(QRCode(text))
        let side = (code.size + 8) * 4
        var image = Data("P5\n\(side) \(side)\n255\n".utf8)
        for y in 0..<side { image.append(contentsOf: (0..<side).map { code[$0 / 4 - 4, y / 4 - 4] ? 0 : 255 }) }
        let path = FileManager.default.temporaryDirectory.appending(path: "qr-\(UUID().uuidString).pgm")
        try image.write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let process = Process()
        process.executableURL = URL(filePath: Self.decoder)
        process.arguments = ["--raw", "--quiet", "-Sdisable", "-Sqrcode.enable", path.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let read = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(String(decoding: read, as: UTF8.self) == text + "\n")
    }
}
