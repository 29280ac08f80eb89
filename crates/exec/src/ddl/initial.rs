//! What a new store begins with, as `initdb` leaves it: the role postgres, three databases, the schema public in each.

use catalog::Oid;
use catalog::object::{Comment, Database, Object, Role, Schema};

/// OID of `pg_database_owner`, who owns the schema public from PostgreSQL 15 on.
pub const DATABASE_OWNER_ROLE: Oid = Oid(6171);
/// OIDs of the databases.
pub const TEMPLATE1: Oid = Oid(1);
/// See [`TEMPLATE1`].
pub const TEMPLATE0: Oid = Oid(4);
/// See [`TEMPLATE1`].
pub const POSTGRES: Oid = Oid(5);

/// The objects, each with the database that it belongs to (zero: shared).
pub fn initial_objects() -> Vec<(Oid, Object)> {
    let mut objects = Vec::new();
    objects.push((
        Oid::INVALID,
        Object::Role(Role {
            oid: Oid::POSTGRES_ROLE,
            name: "postgres".into(),
            superuser: true,
            login: true,
            createdb: true,
            createrole: true,
            password: None,
        }),
    ));
    for (oid, name) in PREDEFINED_ROLES {
        objects.push((
            Oid::INVALID,
            Object::Role(Role {
                oid: Oid(*oid),
                name: (*name).into(),
                superuser: false,
                login: false,
                createdb: false,
                createrole: false,
                password: None,
            }),
        ));
    }
    for (oid, name, comment) in [
        (POSTGRES, "postgres", "default administrative connection database"),
        (TEMPLATE1, "template1", "default template for new databases"),
        (TEMPLATE0, "template0", "unmodifiable empty database"),
    ] {
        objects.push((
            Oid::INVALID,
            Object::Database(Database {
                oid,
                name: name.into(),
                owner: Oid::POSTGRES_ROLE,
                is_template: oid != POSTGRES,
                allow_connections: oid != TEMPLATE0,
                connection_limit: -1,
            }),
        ));
        objects.extend(database_objects(oid));
        // Comments on databases are kept with the database itself; pg_shdescription shows them.
        let text = comment.to_owned();
        objects.push((oid, Object::Comment(Comment { oid, classoid: Oid(1262), sub: 0, text })));
    }
    objects
}

/// What a new database begins with.
pub fn database_objects(database: Oid) -> Vec<(Oid, Object)> {
    vec![
        (
            database,
            Object::Schema(Schema { oid: Oid::PUBLIC, name: "public".into(), owner: DATABASE_OWNER_ROLE }),
        ),
        (
            database,
            Object::Comment(Comment {
                oid: Oid::PUBLIC,
                classoid: Oid(2615),
                sub: 0,
                text: "standard public schema".into(),
            }),
        ),
    ]
}

/// Roles that every cluster has (`pg_authid.dat`).
const PREDEFINED_ROLES: &[(u32, &str)] = &[
    (6171, "pg_database_owner"),
    (6181, "pg_read_all_data"),
    (6182, "pg_write_all_data"),
    (3373, "pg_monitor"),
    (3374, "pg_read_all_settings"),
    (3375, "pg_read_all_stats"),
    (3377, "pg_stat_scan_tables"),
    (4569, "pg_read_server_files"),
    (4570, "pg_write_server_files"),
    (4571, "pg_execute_server_program"),
    (4200, "pg_signal_backend"),
    (4544, "pg_checkpoint"),
];
