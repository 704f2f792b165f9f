import Database
import EventFeed
import Outbox
import Quotas
import RestQueries
import Web

package let adventuresSchema = ServiceSchema(
  "adventures", adventuresMigrations, sqliteFunctions: RestFunctions.all)

let adventuresMigrations = [
  EventFeed.migration,
  Idempotency.migration,
  Migration("plans, places, hunts, shared arrival times", tables),
  Outbox.migration,
  SubmissionPhotos.migration,
  Migration("indexes in the order of ids", orderedIndexes),
  Migration("the ends of hunts", huntEnds),
  Migration("who was let into the hunts of groups", groupReaderTable),
  EventFeed.resetMigration,
  Migration(
    "shares that have ended", "create index eta_share_ended on eta_share (expires_at) where not is_active;"),
  Migration("who was there first", "alter table hunt_score add column scored_at timestamptz;"),
]

/// Who takes part as a member of a group is in it. Other members since before this table are let into its hunts once
/// more when they ask, and have to read those again that they had read in part.
private let groupReaderTable = """
  create table group_reader (
    user_id uuid not null,
    group_id uuid not null,
    primary key (user_id, group_id)
  );
  insert into group_reader (user_id, group_id)
    select distinct user_id, group_id from hunt_participant where group_id is not null;
  """

/// `end_told_for` is the `end_time` of which the channels were told.
private let huntEnds = """
  alter table hunt add column end_told_for timestamptz;
  create index hunt_end on hunt (end_time) where status = 'active' and end_time is not null;
  """

private let tables = [planTable, placeTable, huntTables, submissionTables, shareTables, QuotaStore.table]
  .joined(separator: "\n")

/// The rows of a user or a group are read in the order of their ids, so that no page of them is sorted.
private let orderedIndexes = """
  drop index adventure_plan_user;
  create index adventure_plan_user on adventure_plan (user_id, id);
  drop index saved_place_user;
  create index saved_place_user on saved_place (user_id, id);
  drop index eta_share_user;
  create index eta_share_user on eta_share (user_id, id);
  drop index hunt_created_by;
  create index hunt_created_by on hunt (created_by, id);
  drop index hunt_group;
  create index hunt_group on hunt (group_id, id) where group_id is not null;
  drop index hunt_participant_user;
  create index hunt_participant_user on hunt_participant (user_id, hunt_id);
  """

private let planTable = """
  create table adventure_plan (
    id uuid primary key,
    user_id uuid not null,
    title text not null,
    description text,
    stops text default '[]',
    route_data text,
    status text not null default 'draft',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint adventure_plan_title_length check (length(title) between 1 and 200),
    constraint adventure_plan_description_length check (length(description) <= 10000),
    constraint adventure_plan_stops_length check (length(stops) <= 262144),
    constraint adventure_plan_route_data_length check (length(route_data) <= 262144),
    constraint adventure_plan_status check (status in ('draft', 'active', 'completed', 'cancelled'))
  );
  create index adventure_plan_user on adventure_plan (user_id);
  """

private let placeTable = """
  create table saved_place (
    id uuid primary key,
    user_id uuid not null,
    name text not null,
    address text,
    latitude double precision,
    longitude double precision,
    category text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint saved_place_name_length check (length(name) between 1 and 200),
    constraint saved_place_address_length check (length(address) <= 1000),
    constraint saved_place_category_length check (length(category) <= 100),
    constraint saved_place_latitude check (latitude between -90 and 90),
    constraint saved_place_longitude check (longitude between -180 and 180)
  );
  create index saved_place_user on saved_place (user_id);
  """

/// `hunt_participant.group_id` is the group by whose membership somebody takes part; null for its creator, and for
/// those who have joined by the hunt's code. Every transaction that changes a hunt, its checkpoints, participants or
/// submissions first updates the hunt's row, which serves as its lock.
private let huntTables = """
  create table hunt (
    id uuid primary key,
    created_by uuid not null,
    title text not null,
    description text,
    group_id uuid,
    invite_code text not null,
    status text not null default 'draft',
    start_time timestamptz,
    end_time timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint hunt_title_length check (length(title) between 1 and 200),
    constraint hunt_description_length check (length(description) <= 10000),
    constraint hunt_status check (status in ('draft', 'active', 'completed', 'cancelled')),
    constraint hunt_times check (end_time > start_time)
  );
  create unique index hunt_invite_code on hunt (invite_code);
  create index hunt_created_by on hunt (created_by);
  create index hunt_group on hunt (group_id) where group_id is not null;

  create table hunt_checkpoint (
    id uuid primary key,
    hunt_id uuid not null references hunt (id) on delete cascade,
    title text not null,
    description text,
    location text,
    photo_required boolean not null default false,
    points bigint not null default 10,
    order_index bigint not null,
    created_at timestamptz not null,
    constraint hunt_checkpoint_title_length check (length(title) between 1 and 200),
    constraint hunt_checkpoint_description_length check (length(description) <= 10000),
    constraint hunt_checkpoint_points check (points between 0 and 1000),
    constraint hunt_checkpoint_order_index check (order_index between 0 and 100000)
  );
  create index hunt_checkpoint_hunt on hunt_checkpoint (hunt_id, order_index);

  create table hunt_participant (
    id uuid primary key,
    hunt_id uuid not null references hunt (id) on delete cascade,
    user_id uuid not null,
    group_id uuid,
    joined_at timestamptz not null
  );
  create unique index hunt_participant_once on hunt_participant (hunt_id, user_id);
  create index hunt_participant_user on hunt_participant (user_id);
  create index hunt_participant_group on hunt_participant (group_id, user_id) where group_id is not null;
  """

/// `photo_name` of a submission, which is added later, is the file of the submitter that its `photo_url` names.
/// `hunt_score` is what the submissions of somebody add up to. It is written in the transaction of each submission.
/// `scored_at`, which is added later, is the exact time that `last_submitted_at` shows in whole seconds.
/// `participant_name` keeps the names that leaderboards show, which auth knows.
private let submissionTables = """
  create table checkpoint_submission (
    id uuid primary key,
    checkpoint_id uuid not null references hunt_checkpoint (id) on delete cascade,
    user_id uuid not null,
    photo_url text,
    verified boolean not null default false,
    submitted_at timestamptz not null
  );
  create unique index checkpoint_submission_once on checkpoint_submission (checkpoint_id, user_id);
  create index checkpoint_submission_user on checkpoint_submission (user_id, checkpoint_id);

  create table hunt_score (
    hunt_id uuid not null references hunt (id) on delete cascade,
    user_id uuid not null,
    score bigint not null,
    completed_checkpoints bigint not null,
    last_submitted_at timestamptz,
    primary key (hunt_id, user_id)
  );
  create index hunt_score_user on hunt_score (user_id);

  create table participant_name (
    user_id uuid primary key,
    name text,
    fetched_at timestamptz not null
  );
  """

/// `eta_recipient` has a row for each of the `recipients` of a share, by which they find it. One between whom and the
/// owner there was a block is hidden from the recipient.
private let shareTables = """
  create table eta_share (
    id uuid primary key,
    user_id uuid not null,
    route_data text not null,
    recipients jsonb not null,
    is_active boolean not null default true,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint eta_share_route_data_length check (length(route_data) <= 262144)
  );
  create index eta_share_user on eta_share (user_id);
  create index eta_share_active on eta_share (expires_at) where is_active;

  create table eta_recipient (
    share_id uuid not null,
    user_id uuid not null,
    is_hidden boolean not null default false,
    primary key (share_id, user_id)
  );
  create index eta_recipient_user on eta_recipient (user_id, share_id);
  """
