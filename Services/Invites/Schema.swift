import Database
import Outbox
import Quotas
import Web

/// The tables of invites, of who has come in by them, and of what has still to be sent.
let invitesMigrations = [
  Migration("invites", inviteTables),
  Migration("quotas", Quotas.QuotaStore.table),
  Outbox.migration,
  Idempotency.migration,
  Migration("ended invites", endedInvites),
]

/// The sweep looks for those that ended a year ago, and there are many that ended later.
private let endedInvites = "create index invite_ended on invite (ended_at) where ended_at is not null;"

/// The update of an invite's row decides who comes in by it, and the update of an inviter's row how many they make.
/// Tokens, codes, phone numbers and addresses are only there as HMACs, or sealed for as long as somebody needs them.
private let inviteTables = """
  create table invite (
    id uuid primary key,
    way text not null,
    kind text not null,
    destination_id text not null,
    secret_hash bytea not null,
    sealed_secret bytea,
    role text,
    inviter_id uuid,
    invitee_id uuid,
    sealed_email bytea,
    sealed_phone bytea,
    state text not null,
    uses_max bigint,
    uses_count bigint not null default 0,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    constraint invite_way check (way in ('link', 'text')),
    constraint invite_kind check (kind in ('collection', 'group', 'list')),
    constraint invite_state check (state in ('pending', 'accepted', 'rejected', 'expired', 'revoked')),
    constraint invite_uses check (uses_count >= 0 and (uses_max is null or uses_count <= uses_max)),
    constraint invite_ended check ((state = 'pending') = (ended_at is null)),
    constraint invite_inviter check (inviter_id is not null or state <> 'pending')
  );
  create unique index invite_secret on invite (secret_hash);
  create index invite_destination on invite (kind, destination_id, created_at);
  create index invite_inviter on invite (inviter_id, created_at);
  create index invite_invitee on invite (invitee_id) where invitee_id is not null;
  create index invite_expiry on invite (expires_at) where state = 'pending';
  create index invite_personal on invite (ended_at)
    where sealed_phone is not null or sealed_email is not null or sealed_secret is not null;

  create table inviter (
    user_id uuid primary key,
    touched_at timestamptz not null
  );
  create index inviter_age on inviter (touched_at);

  create table invite_use (
    id uuid primary key,
    invite_id uuid not null references invite (id),
    user_id uuid not null,
    state text not null,
    claimed_at timestamptz not null,
    answered_at timestamptz,
    \(Leases.columns),
    constraint invite_use_state check (state in ('claimed', 'joined'))
  );
  create unique index invite_use_once on invite_use (invite_id, user_id);
  create index invite_use_due on invite_use (due_at) where due_at is not null;
  create index invite_use_user on invite_use (user_id);

  create table texted (
    group_id uuid not null,
    phone_hash bytea not null,
    texted_at timestamptz not null
  );
  create unique index texted_once on texted (group_id, phone_hash);
  create index texted_age on texted (texted_at);

  """
