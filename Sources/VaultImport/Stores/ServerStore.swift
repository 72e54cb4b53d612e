/// Tables that look like a client's tokens but are not: tokens that an authorization server has issued to others.
enum ServerStore {
    struct Finding: Equatable {
        let table: String
        let product: String
    }

    /// By folded name.
    private static let tables: [String: String] = [
        "oauth2provideraccesstoken": "Django OAuth Toolkit", "oauth2providerrefreshtoken": "Django OAuth Toolkit",
        "oauth2providergrant": "Django OAuth Toolkit", "oauth2authorization": "Spring Authorization Server",
        "oauth2registeredclient": "Spring Authorization Server", "offlineclientsession": "Keycloak",
        "offlineusersession": "Keycloak", "hydraoauth2access": "Ory Hydra", "hydraoauth2refresh": "Ory Hydra",
        "oauthaccesstoken": "an authorization server", "oauthrefreshtoken": "an authorization server",
        "oauthaccesstokens": "an authorization server", "oauthrefreshtokens": "an authorization server",
    ]

    /// Columns that only servers have.
    private static let columns: [(all: Set<String>, product: String)] = [
        (["accesstokenrevokedat", "refreshtokenrevokedat"], "a server made with Authlib"),
        (["authorizationgranttype", "registeredclientid"], "Spring Authorization Server"),
        (["accesstoken", "clientid", "issuedat", "revoked"], "a server made with Authlib"),
    ]

    static func find(in shapes: [TableShape]) -> Finding? {
        for shape in shapes {
            if let product = tables[shape.foldedName] { return Finding(table: shape.name, product: product) }
            let names = shape.columns.folded
            if let match = columns.first(where: { $0.all.isSubset(of: names) }) {
                return Finding(table: shape.name, product: match.product)
            }
        }
        return nil
    }
}
