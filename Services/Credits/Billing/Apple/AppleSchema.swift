import Database

/// The tables of Apple purchases, in addition to those of all purchases.
let appleMigrations = [Migration("Apple purchases", appleTables)]

/// Reports from before there was this column count from the day of its version.
let appleReportAgeMigration = Migration(
  "ages of reports about Apple purchases",
  """
  alter table apple_unowned_report add column stored_at timestamptz not null default '2026-11-22T00:00:00.000Z';
  create index apple_unowned_report_stored_at on apple_unowned_report (stored_at);
  """)

/// `apple_original` has the purchases of apps that set no `appAccountToken`, by their original transaction: the first
/// account that sends a transaction to this server owns them. What is reported before waits in `apple_unowned_report`.
///
/// `apple_subscription` has what is known of each subscription: the reports from which its state is computed.
private let appleTables = """
  create table apple_original (
    original_id text primary key,
    user_id uuid,
    claimed_at timestamptz,
    constraint apple_original_claimed check (user_id is null or claimed_at is not null)
  );
  create index apple_original_user on apple_original (user_id) where user_id is not null;

  create table apple_unowned_report (
    original_id text not null references apple_original (original_id),
    report text not null
  );
  create unique index apple_unowned_report_once on apple_unowned_report (original_id, report);

  create table apple_subscription (
    subscription_id text primary key,
    bundle_id text not null,
    environment text not null,
    phase bigint,
    phase_at timestamptz,
    grace_ends_at timestamptz,
    will_renew boolean,
    renewal_at timestamptz,
    transaction_id text,
    product_id text,
    purchased_at timestamptz,
    ends_at timestamptz,
    period_at timestamptz,
    check_at timestamptz,
    constraint apple_subscription_phase check ((phase is null) = (phase_at is null)),
    constraint apple_subscription_renewal check ((will_renew is null) = (renewal_at is null)),
    constraint apple_subscription_period check ((transaction_id is null) = (ends_at is null))
  );
  create index apple_subscription_check_at on apple_subscription (check_at) where check_at is not null;

  create table apple_consent (
    user_id uuid primary key,
    is_given boolean not null,
    changed_at timestamptz not null
  );

  create table apple_consumption_answer (
    transaction_id text primary key,
    answered_at timestamptz not null
  );

  create table apple_notification_history (
    bundle_id text not null,
    environment text not null,
    read_until timestamptz not null,
    due_at timestamptz not null,
    claimed_until timestamptz,
    primary key (bundle_id, environment)
  );
  """
