/// One step of the schema's history. Shipped steps are never edited.
package struct Migration: Sendable {
    package let version: Int
    /// The file's name without its extension.
    package let name: String
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// FNV-1a of the SQL. It finds an edited step, not an attacker: the schema itself is compared at every opening.
    package var checksum: Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in sql.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }
}

/// All steps of each engine, in order.
package enum Migrations {
    /// Of PostgreSQL.
    package static let postgreSQL: [Migration] = [
        Migration(version: 1, name: "p001_create_vault", sql: text(PackageResources.p001_create_vault_sql)),
        Migration(
            version: 2, name: "p002_cut_manifests_into_parts",
            sql: text(PackageResources.p002_cut_manifests_into_parts_sql)),
        Migration(version: 3, name: "p003_remember_observers", sql: text(PackageResources.p003_remember_observers_sql)),
        Migration(
            version: 4, name: "p004_find_logins_by_user_and_provider",
            sql: text(PackageResources.p004_find_logins_by_user_and_provider_sql)),
    ]

    /// Of SQLite.
    package static let all: [Migration] = [
        Migration(version: 1, name: "v001_create_vault", sql: text(PackageResources.v001_create_vault_sql)),
        Migration(version: 2, name: "v002_create_login", sql: text(PackageResources.v002_create_login_sql)),
        Migration(version: 3, name: "v003_create_journals", sql: text(PackageResources.v003_create_journals_sql)),
        Migration(version: 4, name: "v004_audit_migrations", sql: text(PackageResources.v004_audit_migrations_sql)),
        Migration(
            version: 5, name: "v005_keep_unusable_replies", sql: text(PackageResources.v005_keep_unusable_replies_sql)),
        Migration(
            version: 6, name: "v006_add_indexes_and_manifest",
            sql: text(PackageResources.v006_add_indexes_and_manifest_sql)),
        Migration(version: 7, name: "v007_keep_for_years", sql: text(PackageResources.v007_keep_for_years_sql)),
        Migration(
            version: 8, name: "v008_cut_manifests_into_parts",
            sql: text(PackageResources.v008_cut_manifests_into_parts_sql)),
        Migration(version: 9, name: "v009_remember_observers", sql: text(PackageResources.v009_remember_observers_sql)),
        Migration(
            version: 10, name: "v010_find_logins_by_user_and_provider",
            sql: text(PackageResources.v010_find_logins_by_user_and_provider_sql)),
    ]

    /// What all steps together make of an empty vault of SQLite: see `SQL/schema.txt`, which a test compares with them.
    package static var schema: [UInt8] { PackageResources.schema_txt }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
