// Re-exports the types in this module's API: tokens and their `reveal()`, client ids, scopes. Under
// `MemberImportVisibility` every caller would otherwise have to import this module too.
@_exported public import OAuthClient
