import BenchProgram
import FoundationEssentials
import Glibc
import OAuthClient
import TokenVault
import TokenVaultTesting

// The library's side of the benchmarks; `Benchmarks/reference/reference.c` is the other. Both take the same arguments
// and print one line `nanoseconds-per-operation operations`, so that `Benchmarks/run` can take turns with them.
//
//     vault-bench make    VAULT KEY LOGINS
//     vault-bench read    VAULT KEY LOGINS COUNT SEED     synchronous read of a good token
//     vault-bench known   VAULT KEY LOGINS COUNT SEED     the same of users who have been read before, which does not count
//     vault-bench first   VAULT KEY LOGINS COUNT SEED     the same of users whom the process has not met, each once
//     vault-bench again   VAULT KEY LOGINS COUNT SEED     the same users, once they are known
//     vault-bench await   VAULT KEY LOGINS COUNT SEED     await users.accessToken(userId:)
//     vault-bench await-known VAULT KEY LOGINS COUNT SEED of users who have been read before
//     vault-bench await1  VAULT KEY LOGINS COUNT SEED     of users who have been read before, on one task; await2 on two tasks,
//                                                         COUNT each; await4 on four
//     vault-bench make-three VAULT KEY LOGINS             a vault in which each user has a login at three providers
//     vault-bench await-one VAULT KEY LOGINS COUNT SEED   the token at one of the three, of users who have been read before
//     vault-bench make-tenant VAULT KEY LOGINS            a vault of a tenant's users
//     vault-bench await-tenant VAULT KEY LOGINS COUNT SEED their logins by id, which have been read before
//     vault-bench make-bound VAULT KEY LOGINS             a vault of tokens that are bound to DPoP keys
//     vault-bench authorize VAULT KEY LOGINS COUNT SEED   a request with such a token, without the time of its proof
//     vault-bench update  VAULT KEY LOGINS COUNT SEED     one durable update after the other
//     vault-bench update64 VAULT KEY LOGINS COUNT SEED    durable updates by 64 callers at a time
//     vault-bench open    VAULT KEY LOGINS COUNT SEED     open, one read, close
//     vault-bench rotate  VAULT KEY LOGINS COUNT SEED     one rotation of the root key, for each login
//     vault-bench rows    VAULT KEY SOURCE                reads a store of another system; also prints the peak memory in KiB
//     vault-bench import  VAULT KEY SOURCE                takes a store of another system into a new vault; the same
//     vault-bench renew64 VAULT KEY LOGINS COUNT SEED     64 callers' renewals, one at a time, and then together
//     vault-bench grow    VAULT KEY LOGINS COUNT SEED     renews each login COUNT times, and closes the vault
//     vault-bench make-many VAULT KEY LOGINS              a vault in which one user has all logins
//     vault-bench many    VAULT KEY LOGINS COUNT SEED     reads, renews and lists logins of that user
//     vault-bench proof   -     -   0      COUNT SEED     DPoP proofs and bare ES256 signatures
//     vault-bench memory  VAULT KEY LOGINS COUNT SEED     prints the process's peak memory in KiB after COUNT reads

let arguments = CommandLine.arguments
let isImport = arguments.count == 5 && ["import", "rows"].contains(arguments[1])
guard arguments.count >= 5, let logins = isImport ? 0 : Int(arguments[4]) else {
    BenchProgram.stop("vault-bench", "see the comment in main.swift for the arguments")
}
let workload = Workload(vault: arguments[2], key: arguments[3], logins: logins)

@Sendable func tenant() throws -> Tenant {
    guard let tenant = Tenant("bench") else { throw NotComplete() }
    return tenant
}

@Sendable func run() async throws {
    if arguments[1] == "make" { return try await workload.make() }
    if arguments[1] == "make-three" { return try await workload.make(providers: ["acme", "globex", "initech"]) }
    if arguments[1] == "make-tenant" { return try await workload.make(tenant: tenant()) }
    if arguments[1] == "make-bound" { return try await workload.make(areBound: true) }
    if arguments[1] == "make-many" { return try await workload.makeMany() }
    if isImport {
        try await arguments[1] == "rows" ? workload.rows(of: arguments[4]) : workload.take(from: arguments[4])
        return print(peakMemory())
    }
    guard arguments.count == 7, let count = Int(arguments[5]), let seed = UInt64(arguments[6]) else { exit(64) }
    let drawn = Order(seed: seed, users: max(1, logins))
    let order = drawn.users(count)
    func orders(_ tasks: UInt64) -> [[String]] {
        (0..<tasks).map { Order(seed: seed &+ $0 << 32, users: max(1, logins)).users(count) }
    }
    switch arguments[1] {
    case "read": try await workload.read(order)
    case "known": try await workload.read(order, known: true)
    case "first": try await workload.meet(count, drawn, again: false)
    case "again": try await workload.meet(count, drawn, again: true)
    case "await": try await workload.await(order)
    case "await-known": try await workload.await(order, known: true)
    case "await-one": try await workload.await(order, at: "globex", known: true)
    case "await-tenant": try await workload.await(order, of: tenant())
    case "authorize": try await workload.authorize(order)
    case "await1": try await workload.await(orders(1))
    case "await2": try await workload.await(orders(2))
    case "await4": try await workload.await(orders(4))
    case "update": try await workload.update(order)
    case "update64": try await workload.update(order, callers: 64)
    case "renew64": try await workload.renewTogether(order)
    case "grow": try await workload.renewAll(count)
    case "many": try await workload.manyLogins(count)
    case "proof": try Workload.prove(count)
    case "open": try await workload.open(order)
    case "rotate": try await workload.rotate()
    case "memory":
        try await workload.read(order, prints: false)
        print(peakMemory())
    default: exit(64)
    }
}

BenchProgram.run("vault-bench", run)
