import DevAuthorizationServer
import FoundationEssentials
import Glibc

func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count > 0 else { return }
        bytes = bytes.dropFirst(count)
    }
}

let options: Options
do throws(UsageError) {
    options = try Options(Array(CommandLine.arguments.dropFirst()))
} catch {
    write("dev-authserver: error: \(error.sentence)\nhint: \(error.hint)\n", to: STDERR_FILENO)
    exit(EX_USAGE)
}
if options.showsHelp {
    write(Help.text, to: STDOUT_FILENO)
    exit(EXIT_SUCCESS)
}

do {
    let stops = await StopSignal.listen(options)
    let server = try await DevAuthorizationServer.start(options.configuration)
    let line = "listening on http://127.0.0.1:\(server.port)\n"
    if let path = options.readyFile {
        try Data(line.utf8).write(to: URL(filePath: path), options: .atomic)
    }
    write(line, to: STDOUT_FILENO)
    for await _ in stops { break }
    await server.shutDown()
    exit(EXIT_SUCCESS)
} catch {
    write("dev-authserver: error: cannot serve: \(error)\n", to: STDERR_FILENO)
    exit(EXIT_FAILURE)
}
