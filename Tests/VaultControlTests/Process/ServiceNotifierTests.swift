import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import VaultControl

/// What systemd hears of `vaultctl maintain`, at a real socket.
struct ServiceNotifierTests {
    @Test func maintainReportsThatItIsReadyAliveAndStopping() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let socket = try NotifySocket(at: harness.path("notify"))
        var environment = harness.environment
        environment["NOTIFY_SOCKET"] = harness.path("notify")
        environment["WATCHDOG_USEC"] = "100000"
        environment["WATCHDOG_PID"] = String(getpid())
        let work = Task { [environment] in try await harness.run("maintain", environment: environment) }
        try await socket.wait { $0.contains("READY=1") && $0.count { $0 == "WATCHDOG=1" } >= 3 }
        #expect(!socket.messages.contains("STOPPING=1"))
        work.cancel()
        let result = try await work.value
        #expect(result.status == 0, "\(result.error)")
        try await socket.wait { $0.contains("STOPPING=1") }
        let messages = socket.messages
        #expect(messages.count { $0 == "READY=1" } == 1)
        #expect(messages.count { $0 == "STOPPING=1" } == 1)
        #expect(Set(messages) == ["READY=1", "WATCHDOG=1", "STOPPING=1"])
    }

    /// As systemd stops it.
    @Test func aProcessThatIsStoppedReportsItAndEndsWell() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let socket = try NotifySocket(at: harness.path("notify"))
        let maintainer = try Maintainer(harness, ["NOTIFY_SOCKET": harness.path("notify")])
        try await socket.wait { $0 == ["READY=1"] }
        maintainer.process.terminate()
        try await socket.wait { $0 == ["READY=1", "STOPPING=1"] }
        #expect(await maintainer.end() == 0)
    }

    /// With `Type=notify` it would count as started.
    @Test func whatCannotStartIsNotReady() async throws {
        let harness = try Harness()
        let socket = try NotifySocket(at: harness.path("notify"))
        var environment = harness.environment
        environment["NOTIFY_SOCKET"] = harness.path("notify")
        let result = try await harness.run("maintain", environment: environment)
        #expect(result.status == 2)
        let notifier = try #require(ServiceNotifier(environment))
        #expect(notifier.send(.alive))
        try await socket.wait { !$0.isEmpty }
        #expect(socket.messages == ["WATCHDOG=1"])
    }

    @Test func aSocketWithoutAFileIsReached() async throws {
        let name = "vaultctl-test-\(UUID().uuidString)"
        let socket = try NotifySocket(at: "@" + name)
        let notifier = try #require(ServiceNotifier(["NOTIFY_SOCKET": "@" + name]))
        #expect(notifier.watchdogInterval == nil)
        #expect(notifier.send(.ready))
        try await socket.wait { $0 == ["READY=1"] }
    }

    @Test func whatIsNotMeantForThisProcessIsLeftAlone() {
        #expect(ServiceNotifier([:]) == nil)
        #expect(ServiceNotifier(["NOTIFY_SOCKET": ""]) == nil)
        #expect(ServiceNotifier(["NOTIFY_SOCKET": "vsock:2:1"]) == nil)
        #expect(ServiceNotifier(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
        let interval = { (limit: String, process: String?) in
            var environment = ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": limit]
            environment["WATCHDOG_PID"] = process
            return ServiceNotifier(environment)?.watchdogInterval
        }
        #expect(interval("30000000", nil) == .seconds(15))
        #expect(interval("30000000", String(getpid())) == .seconds(15))
        #expect(interval("30000000", "1") == nil)
        #expect(interval("0", nil) == nil)
        #expect(interval("soon", nil) == nil)
        // No one listens: the service goes on.
        #expect(ServiceNotifier(["NOTIFY_SOCKET": "/no/such/socket"])?.send(.ready) == false)
    }
}

/// systemd's end.
private final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let heard = Mutex<[String]>([])

    init(at path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        try #require(isBound == 0)
    }

    deinit { close(descriptor) }

    var messages: [String] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        return heard.withLock { heard in
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
                }
                guard count > 0 else { return heard }
                heard.append(String(decoding: buffer[..<count], as: UTF8.self))
            }
        }
    }

    func wait(until condition: ([String]) -> Bool) async throws {
        for _ in 0..<60_000 {
            if condition(messages) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("heard only \(messages)")
    }
}
