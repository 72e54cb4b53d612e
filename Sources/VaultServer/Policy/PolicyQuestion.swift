package import OAuthClient

/// What a client asks for, as far as a policy decides about it. A nil is no part of the question.
package struct PolicyQuestion: Sendable, Equatable {
    package var verb: PolicyClient.Verb
    /// The user's id within their tenant.
    package var user: String?
    package var tenant: String?
    /// The provider's name within the tenant.
    package var provider: String?
    /// The scope that is asked for, as single tokens.
    package var scope: [String]?
    package var resource: String?
    /// Where a request goes, and its method.
    package var target: EndpointURL?
    package var method: String?

    package init(
        _ verb: PolicyClient.Verb, user: String? = nil, tenant: String? = nil, provider: String? = nil,
        scope: [String]? = nil, resource: String? = nil, target: EndpointURL? = nil, method: String? = nil
    ) {
        self.verb = verb
        self.user = user
        self.tenant = tenant
        self.provider = provider
        self.scope = scope
        self.resource = resource
        self.target = target
        self.method = method
    }
}

/// Why a policy refuses something, for the middle of a sentence.
package struct PolicyRefusal: Error, Equatable {
    /// The setting of the client that does not have it.
    package let setting: String
    package let reason: String
}

extension PolicyClient {
    /// Why this client may not have that; nil: it may.
    package func refusal(of question: PolicyQuestion) -> PolicyRefusal? {
        refusal(of: question.verb) ?? refusalOfSubject(question) ?? refusalOfToken(question)
            ?? refusalOfTarget(question)
    }

    func refusal(of verb: Verb) -> PolicyRefusal? {
        guard !verbs.contains(verb) else { return nil }
        return PolicyRefusal(setting: "verbs", reason: "\(verb.rawValue) is not among its verbs")
    }

    private func refusalOfSubject(_ question: PolicyQuestion) -> PolicyRefusal? {
        switch (tenants, question.tenant) {
        case (nil, nil): break
        case (let tenants?, let tenant?) where tenants.contains(tenant): break
        case (_, nil): return PolicyRefusal(setting: "tenants", reason: "it may name users of tenants only")
        default: return PolicyRefusal(setting: "tenants", reason: "the tenant is not among its tenants")
        }
        if let user = question.user, !users.contains(user) {
            return PolicyRefusal(setting: "users", reason: "the user is not among its users")
        }
        if let provider = question.provider, !providers.contains(provider) {
            return PolicyRefusal(setting: "providers", reason: "the provider is not among its providers")
        }
        return nil
    }

    private func refusalOfToken(_ question: PolicyQuestion) -> PolicyRefusal? {
        if let scope = question.scope {
            guard let scopes else {
                return PolicyRefusal(setting: "scopes", reason: "it may not ask for a scope, because it has no scopes")
            }
            guard scope.allSatisfy(scopes.contains) else {
                return PolicyRefusal(setting: "scopes", reason: "the scope is not among its scopes")
            }
        }
        if let resource = question.resource, resources?.contains(resource) != true {
            return PolicyRefusal(setting: "resources", reason: "the resource is not among its resources")
        }
        return nil
    }

    private func refusalOfTarget(_ question: PolicyQuestion) -> PolicyRefusal? {
        if let target = question.target, origins?.covers(target) != true {
            return PolicyRefusal(setting: "origins", reason: "the URL's origin is not among its origins")
        }
        if let method = question.method, methods?.contains(method) != true {
            let isSpelling = methods?.contains(method.uppercased()) == true
            return PolicyRefusal(
                setting: "methods",
                reason: isSpelling ? "methods are written in capitals" : "the method is not among its methods")
        }
        return nil
    }

    /// Why it may not have this token, whose scope is known only now; nil: it may.
    package func refusal(ofTokenWithScope scope: [String]?) -> PolicyRefusal? {
        guard let scopes else { return nil }
        guard let scope else {
            // An unknown scope may be any.
            return scopes.contains("*")
                ? nil
                : PolicyRefusal(
                    setting: "scopes", reason: "the provider did not say which scope the token has")
        }
        return scope.allSatisfy(scopes.contains)
            ? nil : PolicyRefusal(setting: "scopes", reason: "the token has more than its scopes; ask for a scope")
    }
}
