import Database
import EventFeed
import Outbox
import Web

package let timepointsSchema = ServiceSchema("timepoints", timepointsMigrations)

let timepointsMigrations = [
  EventFeed.migration,
  ProviderUsageStore.migration,
  Migration("timepoints", timepointTables),
  Migration("jobs and charges", jobTables),
  Migration("conversations", conversationTables),
  Outbox.migration,
  Idempotency.migration,
]

/// `scene` is what the steps have made, as JSON. A timepoint without a jump begins a sequence of its own.
private let timepointTables = """
  create table timepoint (
    id uuid primary key,
    owner_id uuid not null,
    query text not null,
    slug text not null,
    status text not null,
    visibility text not null,
    preset text not null,
    year bigint,
    location text,
    scene text,
    image_bytes bigint,
    failure text,
    request_context text,
    credits_charged bigint not null default 0,
    generation_ms bigint,
    sequence_id uuid not null,
    parent_id uuid references timepoint (id) on delete set null,
    direction text,
    client_key text,
    client_digest text,
    blob_folder text,
    blob_written_at timestamptz,
    created_at timestamptz not null,
    ended_at timestamptz,
    deleted_at timestamptz,
    constraint timepoint_status check (status in ('pending', 'processing', 'completed', 'failed')),
    constraint timepoint_visibility check (visibility in ('public', 'private')),
    constraint timepoint_ended check ((ended_at is null) = (status in ('pending', 'processing'))),
    constraint timepoint_scene check ((scene is null) = (status <> 'completed')),
    constraint timepoint_year check (year <> 0),
    constraint timepoint_direction check ((direction is null) or direction in ('next', 'prior'))
  );
  create unique index timepoint_slug on timepoint (slug);
  create unique index timepoint_client_key on timepoint (owner_id, client_key) where client_key is not null;
  create index timepoint_public on timepoint (created_at, id)
    where visibility = 'public' and status = 'completed' and deleted_at is null;
  create index timepoint_owner on timepoint (owner_id, created_at, id);
  create index timepoint_child on timepoint (parent_id, direction, created_at) where parent_id is not null;
  create index timepoint_failed on timepoint (ended_at, id) where status = 'failed';

  create table generation_step (
    timepoint_id uuid not null references timepoint (id) on delete cascade,
    step text not null,
    result text not null,
    primary key (timepoint_id, step)
  );

  create table generation_event (
    timepoint_id uuid not null references timepoint (id) on delete cascade,
    number bigint not null,
    name text not null,
    event text not null,
    primary key (timepoint_id, number)
  );
  create unique index generation_event_name on generation_event (timepoint_id, name);

  """

/// A job is there until its timepoint has ended. Those of one user beyond the number that may run at once are queued,
/// without `due_at`. `active_count` counts the others, and its row's lock orders what begins and ends jobs of a user.
private let jobTables = """
  create table generation_job (
    id uuid primary key references timepoint (id) on delete cascade,
    owner_id uuid not null,
    is_queued boolean not null,
    input text not null,
    callback_url text,
    writes_blob boolean not null,
    failure text,
    created_at timestamptz not null,
    \(LeaseTable.columns),
    constraint generation_job_queued check (due_at is null or not is_queued)
  );
  create index generation_job_due on generation_job (due_at) where due_at is not null;
  create index generation_job_waiting on generation_job (owner_id, created_at, id) where is_queued;

  create table generation_limit (
    owner_id uuid primary key,
    active_count bigint not null,
    constraint generation_limit_active_count check (active_count >= 0)
  );

  create table charge (
    id uuid primary key,
    user_id uuid not null,
    operation text not null,
    reference_id uuid not null,
    state text not null,
    hold_id uuid,
    cost bigint,
    lifetime_seconds bigint not null,
    created_at timestamptz not null,
    settled_at timestamptz,
    \(LeaseTable.columns),
    constraint charge_state check (state in ('opening', 'held', 'earned', 'void', 'captured', 'released')),
    constraint charge_settled check ((settled_at is null) = (state not in ('captured', 'released')))
  );
  create index charge_due on charge (due_at) where due_at is not null;
  create index charge_user on charge (user_id);
  create index charge_settled_at on charge (settled_at) where settled_at is not null;

  """

private let conversationTables = """
  create table character_chat (
    id uuid primary key,
    user_id uuid not null,
    timepoint_id uuid not null references timepoint (id) on delete cascade,
    character_name text not null,
    message_count bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index character_chat_user on character_chat (user_id, timepoint_id, updated_at);
  create index character_chat_timepoint on character_chat (timepoint_id);

  create table character_chat_message (
    chat_id uuid not null references character_chat (id) on delete cascade,
    number bigint not null,
    role text not null,
    content text not null,
    created_at timestamptz not null,
    primary key (chat_id, number),
    constraint character_chat_message_role check (role in ('user', 'character'))
  );

  """
