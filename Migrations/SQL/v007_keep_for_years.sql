-- Which users are sealed under which root key: a rotation finds the rest of its work by it.
CREATE INDEX userByRoot ON user (rootKey);
