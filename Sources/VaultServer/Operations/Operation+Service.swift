import HTTPTypes
import HummingbirdCore
import NIOCore
import OAuthClient
import TokenVault

extension Operation {
    /// All operations, in the order of the contract.
    static let all = [
        token, authorize, result, logins, beginLogIn, completeLogIn, logOut, events, health, readiness, metrics,
        contract,
    ]

    static let health = Operation(
        method: .get, path: "/healthz", id: "health", summary: "Whether the server answers.", verb: nil,
        answer: [.required("status", .words(["live"]), "It does.")]
    ) { _ in
        var members = JSONMembers()
        members.add("status", "live")
        return .json(members)
    }

    static let readiness = Operation(
        method: .get, path: "/readyz", id: "readiness",
        summary: "Whether the vault can serve tokens. A provider's outage does not make it unready.", verb: nil,
        answer: [.required("status", .words(["ready"]), "It can.")]
    ) { call in
        try await call.vault.users.vault.checkReadiness()
        var members = JSONMembers()
        members.add("status", "ready")
        return .json(members)
    }

    static let metrics = Operation(
        method: .get, path: "/metrics", id: "metrics", summary: "Metrics, in the text format of Prometheus.",
        verb: .metrics, contentType: "text/plain; version=0.0.4"
    ) { call in
        Reply(.ok, "text/plain; version=0.0.4", .text(call.vault.options.metricsText()))
    }

    static let contract = Operation(
        method: .get, path: "/v1/openapi.json", id: "contract", summary: "This contract (OpenAPI 3.1).", verb: nil,
        contentType: "application/json"
    ) { _ in
        Reply(.ok, "application/json", .text(Contract.text + "\n"))
    }

    static let events = Operation(
        method: .get, path: "/v1/events", id: "events",
        summary:
            "Events of the logins that the policy allows, as server-sent events, each at least once. `Last-Event-ID`, "
            + "or `after`, continues behind an event.", verb: .events,
        query: [
            Field(
                "after", .text(longest: 128),
                "The `id` of the last event that was handled; `start`: all that the vault still has. By default new ones."
            ),
            Field("user", .text(longest: 1_024), "Only events of this user."), Field.tenant,
        ],
        contentType: "text/event-stream"
    ) { call in
        let users = try call.users()
        let user = call.values.text("user")
        let tenant = call.values.text("tenant")
        try call.require(PolicyQuestion(.events, user: user, tenant: tenant))
        let cursor: EventCursor
        switch call.lastEventID ?? call.values.text("after") {
        case nil: cursor = try await users.vault.eventHead()
        case "start": cursor = .start
        case let text?:
            guard let read = EventCursor(text) else { throw Problem.invalid("after is not the id of an event") }
            cursor = read
        }
        return Reply(
            .ok, "text/event-stream",
            .stream { writer in
                let stream = EventStream(call: call, users: users, user: user, tenant: tenant)
                try await stream.run(after: cursor, &writer)
            })
    }
}
