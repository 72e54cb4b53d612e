"""SQLAlchemy with encrypted columns: `StringEncryptedType` of SQLAlchemy-Utils, on SQLite."""
import os

from sqlalchemy import BigInteger, String, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy_utils.types.encrypted.encrypted_type import AesEngine, StringEncryptedType

KEY = "a key of this benchmark and of no other"


class Base(DeclarativeBase):
    pass


class Token(Base):
    __tablename__ = "token"
    user: Mapped[str] = mapped_column(String, primary_key=True)
    access: Mapped[str] = mapped_column(StringEncryptedType(String, KEY, AesEngine, "pkcs5"))
    refresh: Mapped[str] = mapped_column(StringEncryptedType(String, KEY, AesEngine, "pkcs5"))
    expires_at: Mapped[int] = mapped_column(BigInteger)


class Store:
    def __init__(self, place: str):
        self.path = os.path.join(place, "tokens.db")

    def open(self) -> None:
        self.engine = create_engine(f"sqlite:///{self.path}", connect_args={"timeout": 60})

        @event.listens_for(self.engine, "connect")
        def connected(connection, _record):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")

    def fill(self, logins) -> None:
        self.open()
        Base.metadata.create_all(self.engine)
        rows = [dict(zip(("user", "access", "refresh", "expires_at"), login)) for login in logins]
        with Session(self.engine) as session:
            session.bulk_insert_mappings(Token, rows)
            session.commit()

    def read(self, user: str) -> str:
        with Session(self.engine) as session:
            return session.get(Token, user).access

    def renew(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        with Session(self.engine) as session:
            token = session.get(Token, user)
            token.access, token.refresh, token.expires_at = access, refresh, expires_at
            session.commit()

    def close(self) -> None:
        self.engine.dispose()


def make(_name: str, place: str) -> Store:
    return Store(place)
