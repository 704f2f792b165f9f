import Database
import Outbox
import Web

/// The tables of groups, photos, collections, blocks and devices.
let groupsMigrations = [
  Migration("groups", groupTables),
  Migration("photos", photoTable),
  Migration("collections", collectionTables),
  Migration("blocks, devices, invites that were used", otherTables),
  Idempotency.migration,
  Outbox.migration,
  Migration("joining again, removals from collections", joinTables),
  Migration("closed groups", closedGroupIndex),
  Migration("the mark of the photo store", photoStoreTable),
]

/// A group carries the number of its members and a person the number of their groups, so that one conditional update both
/// checks and takes a seat. Whatever changes a group's memberships updates the group's own row first: that is its lock.
private let groupTables = """
  create table social_group (
    id uuid primary key,
    name text not null,
    description text,
    invite_code text not null,
    time_zone text not null,
    member_count bigint not null,
    member_count_max bigint not null,
    created_by uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    closed_at timestamptz,
    constraint social_group_seats check (member_count between 0 and member_count_max),
    constraint social_group_closed check ((closed_at is null) = (member_count > 0))
  );
  create unique index social_group_invite_code on social_group (invite_code);

  create table membership (
    group_id uuid not null references social_group (id),
    user_id uuid not null,
    role text not null,
    state text not null,
    joined_at timestamptz not null,
    left_at timestamptz,
    primary key (group_id, user_id),
    constraint membership_role check (role in ('owner', 'member')),
    constraint membership_state check (state in ('active', 'left', 'removed')),
    constraint membership_owner check (role = 'member' or state = 'active')
  );
  create unique index membership_one_owner on membership (group_id) where role = 'owner';
  create index membership_user on membership (user_id, state);

  create table person (
    user_id uuid primary key,
    group_count bigint not null,
    group_count_max bigint not null,
    numbers_day text,
    numbers_count bigint not null default 0,
    constraint person_groups check (group_count between 0 and group_count_max)
  );

  """

/// One photo a member and day of the group's own calendar. One that is only announced does not
/// count, nor one that has ended and whose bytes are still to be deleted.
private let photoTable = """
  create table photo (
    id uuid primary key,
    group_id uuid not null references social_group (id),
    sender_id uuid not null,
    day text not null,
    state text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    width bigint,
    height bigint,
    size_bytes bigint,
    constraint photo_state check (state in ('pending', 'ready', 'ended'))
  );
  create unique index photo_daily on photo (group_id, sender_id, day) where state = 'ready';
  create index photo_newest on photo (group_id, created_at);
  create index photo_sender on photo (sender_id);
  create index photo_expiry on photo (expires_at);

  """

private let collectionTables = """
  create table collection (
    id uuid primary key,
    owner_id uuid not null,
    name text not null,
    member_count bigint not null,
    member_count_max bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint collection_seats check (member_count between 1 and member_count_max)
  );
  create unique index collection_name on collection (owner_id, name);

  create table collection_member (
    id uuid primary key,
    collection_id uuid not null references collection (id) on delete cascade,
    user_id uuid not null,
    role text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint collection_member_role check (role in ('OWNER', 'EDITOR', 'VIEW_ONLY'))
  );
  create unique index collection_member_once on collection_member (collection_id, user_id);
  create unique index collection_member_one_owner on collection_member (collection_id) where role = 'OWNER';
  create index collection_member_user on collection_member (user_id);

  """

private let otherTables = """
  create table block (
    blocker_id uuid not null,
    blocked_id uuid not null,
    created_at timestamptz not null,
    primary key (blocker_id, blocked_id),
    constraint block_not_oneself check (blocker_id <> blocked_id)
  );
  create index block_blocked on block (blocked_id);

  create table device (
    id uuid primary key,
    user_id uuid not null,
    token text not null,
    platform text not null,
    bundle_id text,
    name text,
    os_version text,
    app_version text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint device_platform check (platform in ('ios', 'android'))
  );
  create unique index device_token on device (token);
  create index device_user on device (user_id, updated_at);

  create table invite_use (
    invite_id uuid not null,
    user_id uuid not null,
    used_at timestamptz not null,
    primary key (invite_id, user_id)
  );
  create index invite_use_user on invite_use (user_id);

  """

/// Who has gone may come in by the same invite again, by another claim; who was removed only by a newer invite.
private let joinTables = """
  alter table invite_use add column claim_id uuid;

  create table collection_removal (
    collection_id uuid not null references collection (id) on delete cascade,
    user_id uuid not null,
    removed_at timestamptz not null,
    primary key (collection_id, user_id)
  );
  create index collection_removal_user on collection_removal (user_id);

  """

/// The way to groups that can be forgotten.
private let closedGroupIndex = """
  create index social_group_closed on social_group (closed_at) where closed_at is not null;

  """

/// One row: what the store of the photos in this database is marked with, once it is.
private let photoStoreTable = """
  create table photo_store (
    one bigint primary key,
    mark uuid not null,
    is_placed boolean not null,
    constraint photo_store_one check (one = 1)
  );

  """
