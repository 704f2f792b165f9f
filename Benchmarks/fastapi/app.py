"""Two routes of Kith in FastAPI, as an app's backend is commonly written: the signed-in user, and the balance.

Both verify the bearer token and read the account, which must be active; the balance is a second query. As Kith does,
the server counts requests by caller, has a request id, headers for security, metrics, and a line of JSON for each
request. LOG_LEVEL=WARNING leaves the lines out.
"""
import json, logging, os, time, uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated

import jwt
from fastapi import Depends, FastAPI, HTTPException, Request, Response, status
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_fastapi_instrumentator import Instrumentator
from pydantic import BaseModel, ConfigDict
from slowapi import Limiter
from slowapi.middleware import SlowAPIMiddleware
from slowapi.util import get_remote_address
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SECRET = os.environ["JWT_SECRET_KEY"]
engine = create_async_engine(
    os.environ["DATABASE_URL"], pool_size=int(os.environ["DATABASE_CONNECTIONS"]), max_overflow=0)
new_session = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "account"
    __table_args__ = {"schema": "auth"}

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str | None]
    display_name: Mapped[str | None]
    created_at: Mapped[datetime]
    deactivated_at: Mapped[datetime | None]


class LedgerAccount(Base):
    __tablename__ = "ledger_account"
    __table_args__ = {"schema": "credits"}

    id: Mapped[str] = mapped_column(primary_key=True)
    balance: Mapped[int]
    held: Mapped[int]
    debt: Mapped[int]
    lifetime_earned: Mapped[int]
    lifetime_spent: Mapped[int]

    @property
    def available(self) -> int:
        return self.balance - self.held


class UserResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: uuid.UUID
    email: str | None
    display_name: str | None
    created_at: datetime


class BalanceResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    balance: int
    available: int
    held: int
    debt: int
    lifetime_earned: int
    lifetime_spent: int


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await engine.dispose()


def caller(request: Request) -> str:
    return request.headers.get("authorization") or get_remote_address(request)


logging.basicConfig(level=os.environ.get("LOG_LEVEL", "INFO"), format="%(message)s")
log = logging.getLogger("api")
app = FastAPI(lifespan=lifespan)
app.state.limiter = Limiter(key_func=caller, default_limits=["1000000000/minute"])
app.add_middleware(SlowAPIMiddleware)
Instrumentator().instrument(app)
bearer = HTTPBearer()


@app.middleware("http")
async def request_context(request: Request, call_next) -> Response:
    request_id = request.headers.get("x-request-id") or uuid.uuid4().hex
    start = time.perf_counter()
    response = await call_next(request)
    response.headers["X-Request-ID"] = request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    if log.isEnabledFor(logging.INFO):
        log.info(json.dumps({
            "time": time.time(), "level": "info", "message": "request", "method": request.method,
            "path": request.url.path, "status": response.status_code, "request_id": request_id,
            "duration_ms": round((time.perf_counter() - start) * 1000, 3)}))
    return response


async def database() -> AsyncIterator[AsyncSession]:
    async with new_session() as session:
        yield session


Database = Annotated[AsyncSession, Depends(database)]


async def current_user(
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)], db: Database
) -> Account:
    refusal = HTTPException(
        status.HTTP_401_UNAUTHORIZED, "Could not validate credentials", headers={"WWW-Authenticate": "Bearer"})
    try:
        claims = jwt.decode(
            credentials.credentials, SECRET, algorithms=["HS256"], issuer="kith",
            options={"require": ["exp", "iat", "sub"]})
        user_id = uuid.UUID(claims["sub"])
    except (jwt.InvalidTokenError, ValueError):
        raise refusal from None
    if claims.get("type") != "access":
        raise refusal
    account = await db.get(Account, user_id)
    if account is None or account.deactivated_at is not None:
        raise refusal
    return account


CurrentUser = Annotated[Account, Depends(current_user)]


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}


@app.get("/api/v1/auth/me", response_model=UserResponse)
async def me(user: CurrentUser) -> Account:
    return user


@app.get("/api/v1/credits/balance", response_model=BalanceResponse)
async def balance(user: CurrentUser, db: Database) -> LedgerAccount:
    account = await db.scalar(select(LedgerAccount).where(LedgerAccount.id == str(user.id)))
    if account is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, "No credit account")
    return account
