import Database

/// Auth's tables. Times are UTC; tokens and keys are only there as digests, or sealed under what they replace.
let authMigrations = [
  Migration(
    "accounts, identities, sessions",
    """
    create table account (
      id uuid primary key,
      email text,
      display_name text,
      created_at timestamptz not null,
      last_login_at timestamptz,
      deactivated_at timestamptz
    );

    create table identity (
      issuer text not null,
      subject text not null,
      account_id uuid not null references account (id),
      email text,
      is_email_verified boolean not null,
      is_private_email boolean not null,
      created_at timestamptz not null
    );
    create unique index identity_issuer_subject on identity (issuer, subject);
    create index identity_account on identity (account_id);

    create table session (
      id uuid primary key,
      account_id uuid not null references account (id),
      opened_at timestamptz not null,
      tokens_until timestamptz not null,
      ended_at timestamptz
    );
    create index session_account on session (account_id) where ended_at is null;
    create index session_ended on session (ended_at) where ended_at is not null;

    create table refresh_token (
      hash bytea not null,
      session_id uuid not null references session (id),
      issued_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      retry_key_hash bytea,
      successor_hash bytea,
      sealed_successor bytea,
      constraint refresh_token_used check ((used_at is null) = (successor_hash is null))
    );
    create unique index refresh_token_hash on refresh_token (hash);
    create index refresh_token_session on refresh_token (session_id);
    """)
]
