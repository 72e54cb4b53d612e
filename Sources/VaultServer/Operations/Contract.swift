import HTTPTypes
import OAuthClient

/// The interface as OpenAPI 3.1, made of the operations themselves.
package enum Contract {
    package static let text: String = document.text

    private static var document: JSONMembers {
        var info = JSONMembers()
        info.add("title", "vaultctl serve")
        info.add("version", "1")
        info.add("description", "Access tokens for the programs of this machine. Never a refresh token.")
        var server = JSONMembers()
        server.add("url", "http://tokenvault")
        server.add("description", "The UNIX socket of vaultctl serve.")
        var paths = JSONMembers()
        for path in unique(Operation.all.map(\.path)) {
            var item = JSONMembers()
            for operation in Operation.all where operation.path == path {
                item.add(operation.method.rawValue.lowercased(), description(operation))
            }
            paths.add(path, item)
        }
        var schemas = JSONMembers()
        schemas.add("Problem", problem)
        var components = JSONMembers()
        components.add("schemas", schemas)
        var document = JSONMembers()
        document.add("openapi", "3.1.0")
        document.add("info", info)
        document.add("servers", [server])
        document.add("paths", paths)
        document.add("components", components)
        return document
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    private static func description(_ operation: Operation) -> JSONMembers {
        var item = JSONMembers()
        item.add("operationId", operation.id)
        item.add("summary", operation.summary)
        let inPath = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
            parameter(
                Operation.Field(
                    String(part.dropFirst().dropLast()), .text(longest: 256), "Part of the path.", isRequired: true),
                in: "path")
        }
        var parameters = inPath + operation.query.map { parameter($0, in: "query") }
        if operation.contentType == "text/event-stream" {
            parameters.append(
                parameter(Operation.Field("Last-Event-ID", .text(longest: 128), "As `after`."), in: "header"))
        }
        if !parameters.isEmpty { item.add("parameters", parameters) }
        if let body = operation.body {
            var request = JSONMembers()
            request.add("required", true)
            request.add("content", content("application/json", object(body, isClosed: true)))
            item.add("requestBody", request)
        }
        var answer = JSONMembers()
        answer.add("description", "Done.")
        if let fields = operation.answer {
            answer.add("content", content("application/json", object(fields, isClosed: false)))
        } else if let type = operation.contentType {
            var schema = JSONMembers()
            schema.add("type", type == "application/json" ? "object" : "string")
            answer.add("content", content(type, schema))
        }
        var reference = JSONMembers()
        reference.add("$ref", "#/components/schemas/Problem")
        var otherwise = JSONMembers()
        otherwise.add("description", "A problem document (RFC 9457).")
        otherwise.add("content", content("application/problem+json", reference))
        var responses = JSONMembers()
        responses.add("200", answer)
        responses.add("default", otherwise)
        item.add("responses", responses)
        return item
    }

    private static func parameter(_ field: Operation.Field, in place: String) -> JSONMembers {
        var parameter = JSONMembers()
        parameter.add("name", field.name)
        parameter.add("in", place)
        parameter.add("description", field.words)
        parameter.add("required", field.isRequired)
        parameter.add("schema", schema(field.kind))
        return parameter
    }

    private static func content(_ type: String, _ schema: JSONMembers) -> JSONMembers {
        var media = JSONMembers()
        media.add("schema", schema)
        var content = JSONMembers()
        content.add(type, media)
        return content
    }

    private static func object(_ fields: [Operation.Field], isClosed: Bool) -> JSONMembers {
        var object = JSONMembers()
        object.add("type", "object")
        let required = fields.filter(\.isRequired).map(\.name)
        if !required.isEmpty { object.add("required", required) }
        if isClosed { object.add("additionalProperties", false) }
        var properties = JSONMembers()
        for field in fields {
            var property = schema(field.kind)
            property.add("description", field.words)
            properties.add(field.name, property)
        }
        object.add("properties", properties)
        return object
    }

    private static func schema(_ kind: Operation.Field.Kind) -> JSONMembers {
        var schema = JSONMembers()
        switch kind {
        case .text(let longest):
            schema.add("type", "string")
            if longest > 0 {
                schema.add("minLength", 1)
                schema.add("maxLength", longest)
            }
        case .words(let words):
            schema.add("type", "string")
            schema.add("enum", words)
        case .seconds(let most):
            schema.add("type", "number")
            schema.add("minimum", 0)
            schema.add("maximum", most)
        case .number:
            schema.add("type", "integer")
            schema.add("minimum", 0)
        case .flag: schema.add("type", "boolean")
        case .texts:
            var values = JSONMembers()
            values.add("type", "string")
            schema.add("type", "object")
            schema.add("additionalProperties", values)
        case .list(let kind):
            schema.add("type", "array")
            schema.add("items", self.schema(kind))
        case .object(let fields): schema = object(fields, isClosed: false)
        }
        return schema
    }

    private static var problem: JSONMembers {
        object(
            [
                .required("type", .text(longest: 0), "Always about:blank: `code` says which problem it is."),
                .required("title", .text(longest: 0), "The status in words."),
                .required("status", .number, "The status."),
                .required("detail", .text(longest: 0), "What is wrong."),
                .required("code", .text(longest: 0), "The code of the vault's error, or one of this server's own."),
                Operation.Field("hints", .list(.text(longest: 0)), "What an operator could do."),
                Operation.Field("needs_user", .flag, "Whether the user must log in again."),
                Operation.Field("retry_after", .number, "Seconds after which it may go better."),
                Operation.Field(
                    "logins", .list(.text(longest: 0)), "The logins among which the request has to choose."),
            ], isClosed: false)
    }
}
