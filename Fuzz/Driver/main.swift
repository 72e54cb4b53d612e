// fuzz-driver <target> [libFuzzer's options and corpus folders]
import CFuzzer
import FuzzTargets
import Glibc

guard CommandLine.arguments.count > 1, let target = FuzzTarget.named(CommandLine.arguments[1]) else {
    let message = "fuzz-driver: name one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))\n"
    _ = Array(message.utf8).withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
}
unsafe Running.target = target
var arguments = unsafe [CommandLine.unsafeArgv[0]]
for index in 2..<max(2, Int(CommandLine.argc)) { unsafe arguments.append(CommandLine.unsafeArgv[index]) }
var count = Int32(arguments.count)
unsafe arguments.append(nil)
let status = unsafe arguments.withUnsafeMutableBufferPointer { buffer in
    var base = unsafe buffer.baseAddress
    return unsafe LLVMFuzzerRunDriver(&count, &base) { data, size in
        let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
        // libFuzzer treats an abort as a finding, and keeps the input.
        if let finding = unsafe Running.target?.finding(for: input) { fatalError("\(finding)") }
        return 0
    }
}
exit(status)

/// libFuzzer's callback has no context parameter.
private enum Running {
    /// Set once, before the fuzzer starts.
    nonisolated(unsafe) static var target: FuzzTarget?
}
