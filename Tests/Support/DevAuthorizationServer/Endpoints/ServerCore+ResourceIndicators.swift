extension ServerCore {
    /// The resource indicators of a request, all of them known here.
    func resources(of form: FormParameters) throws(OAuthError) -> [String] {
        guard configuration.strictness != .mcp || !form.resources.isEmpty else {
            throw .invalidTarget("resource is missing", reason: "no resource")
        }
        for resource in form.resources {
            guard ResourceIndicators.isWellFormed(resource) else {
                throw .invalidTarget(
                    "a resource must be an absolute URI without fragment", reason: "malformed resource")
            }
            let own = resourceURL
            guard resource == own || resource.hasPrefix(own + "/") || configuration.resources.contains(resource) else {
                throw .invalidTarget("the resource is unknown", reason: "unknown resource")
            }
        }
        return form.resources
    }
}
