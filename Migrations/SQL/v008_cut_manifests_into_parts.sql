-- Parts of the manifests of users with many logins: the number of the user's row times 65536, and the part's own number.
CREATE TABLE manifestPart (
    id INTEGER PRIMARY KEY,
    cell BLOB NOT NULL
) STRICT;
