import Foundation
import Platform
import TestSupport
import Testing

struct ListeningSocketTests {
    @Test func aSocketHasItsPermissionsAndIsRemoved() throws {
        let directory = try PrivateDirectory()
        let socket = try ListeningSocket(replacing: directory.file("s"), permissions: 0o620, group: nil)
        let status = try FileStatus(at: directory.file("s"))
        #expect(status.kind == .socket)
        #expect(status.permissions == 0o620)
        #expect(try SocketFile.isAnswered(at: directory.file("s")))
        socket.removeFile()
        #expect(!NamedFile(directory.file("s")).exists)
    }

    @Test func whatTookItsPlaceStays() throws {
        let directory = try PrivateDirectory()
        let first = try ListeningSocket(replacing: directory.file("s"), permissions: 0o600, group: nil)
        let second = try ListeningSocket(replacing: directory.file("s"), permissions: 0o600, group: nil)
        first.removeFile()
        #expect(try SocketFile.isAnswered(at: directory.file("s")))
        second.removeFile()
        #expect(!NamedFile(directory.file("s")).exists)
    }

    @Test func anAbandonedSocketIsNotAnswered() throws {
        let directory = try PrivateDirectory()
        _ = try ListeningSocket(replacing: directory.file("s"), permissions: 0o600, group: nil)
        #expect(try !SocketFile.isAnswered(at: directory.file("s")))
        #expect(try !SocketFile.isAnswered(at: directory.file("none")))
    }

    @Test func aPathThatIsTooLongIsRefused() throws {
        let path = "/tmp/" + String(repeating: "x", count: 200) + "/s"
        #expect(throws: SystemError.nameTooLong) {
            _ = try ListeningSocket(replacing: path, permissions: 0o600, group: nil)
        }
    }

    @Test func whoHasConnectedIsAcceptedAfterTheStopAndNobodyElse() throws {
        let directory = try PrivateDirectory()
        let socket = try ListeningSocket(replacing: directory.file("s"), permissions: 0o600, group: nil)
        // A name that stays, as if a client had looked the socket up before it went.
        try FileManager.default.linkItem(atPath: directory.file("s"), toPath: directory.file("again"))
        for _ in 1...3 { #expect(try SocketFile.isAnswered(at: directory.file("s"))) }
        socket.stop()
        #expect(!NamedFile(directory.file("s")).exists)
        for _ in 1...3 {
            let arrival = try #require(try socket.accept())
            BorrowedDescriptor(arrival).close()
        }
        #expect(try socket.accept() == nil)
        #expect(try !SocketFile.isAnswered(at: directory.file("again")))
    }

    @Test func aWaitEndsWithTheStop() async throws {
        let directory = try PrivateDirectory()
        let socket = try ListeningSocket(replacing: directory.file("s"), permissions: 0o600, group: nil)
        let waiting = Task.detached { try socket.accept() }
        socket.stop()
        #expect(try await waiting.value == nil)
    }
}
