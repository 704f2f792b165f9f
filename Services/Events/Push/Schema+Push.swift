import Database

/// The tables of devices and notifications.
///
/// A row of `alert` says that a user was notified of an event: no event notifies a user twice. `held_alert` is an alert
/// that waits for the end of the quiet hours.
func pushTables(number: String) -> String {
  """
  create table device (
    id uuid primary key,
    user_id uuid not null,
    session_id uuid,
    token text not null,
    platform text not null,
    environment text,
    time_zone text,
    bundle_id text,
    name text,
    os_version text,
    app_version text,
    signed_out_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint device_platform check (platform in ('ios', 'android')),
    constraint device_environment check (environment in ('production', 'sandbox'))
  );
  create unique index device_token on device (token);
  create index device_user on device (user_id, updated_at);
  create index device_session on device (session_id) where session_id is not null;
  create index device_signed_out on device (signed_out_at) where signed_out_at is not null;

  create table device_number (
    number \(number),
    device_id uuid not null references device (id) on delete cascade
  );
  create unique index device_number_device on device_number (device_id);

  create table notification_preference (
    user_id uuid primary key,
    push_enabled boolean not null,
    disabled_kinds text not null,
    quiet_enabled boolean not null,
    quiet_start bigint not null,
    quiet_end bigint not null,
    updated_at timestamptz not null
  );

  create table muted_group (
    user_id uuid not null,
    group_id uuid not null,
    muted_at timestamptz not null,
    primary key (user_id, group_id)
  );

  create table unread_count (
    user_id uuid primary key,
    notifications bigint not null
  );

  create table alert (
    event_id uuid not null,
    user_id uuid not null,
    is_sent boolean not null,
    created_at timestamptz not null,
    primary key (event_id, user_id)
  );
  create index alert_user on alert (user_id, created_at);
  create index alert_created on alert (created_at);

  create table alert_thread (
    user_id uuid not null,
    name text not null,
    collapse_id text not null,
    started_at timestamptz not null,
    primary key (user_id, name)
  );
  create index alert_thread_started on alert_thread (started_at);

  create table held_alert (
    device_id uuid not null references device (id) on delete cascade,
    event_id uuid not null,
    until timestamptz not null,
    primary key (device_id, until, event_id)
  );
  create index held_alert_until on held_alert (until);

  """
}

/// `device.woken_at` is when the device is, or was last, told in silence that something has changed. `open_topic` has
/// who has which topics open on each replica.
let silentPushAndOpenTopicTables = """
  alter table device add column woken_at timestamptz;

  create table open_topic (
    topic text not null,
    user_id uuid not null,
    replica text not null references presence_replica (id),
    primary key (topic, user_id, replica)
  );
  create index open_topic_replica on open_topic (replica, topic, user_id);
  create index open_topic_user on open_topic (user_id);
  """
