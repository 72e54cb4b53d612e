import BenchProgram
import FoundationEssentials
import Hummingbird

// An ordinary handler of Hummingbird, which reads the request that `vaultctl serve` gets, and answers with the bytes of a file.
// `Benchmarks/peers serve` asks both.
//
//     constant-server SOCKET FILE

struct Question: Decodable {
    let user: String
    let provider: String
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    BenchProgram.stop("constant-server", "see the comment in main.swift for the arguments")
}

@Sendable func serve() async throws {
    let answer = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: arguments[2])))
    let router = Router()
    router.post("/v1/token") { request, context in
        let question = try await request.decode(as: Question.self, context: context)
        guard !question.user.isEmpty else { throw HTTPError(.badRequest) }
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: answer))
    }
    let server = Application(router: router, configuration: .init(address: .unixDomainSocket(path: arguments[1])))
    try await server.runService()
}

BenchProgram.run("constant-server", serve)
