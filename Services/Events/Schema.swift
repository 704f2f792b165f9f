import Database
import Web

package let eventsSchema = ServiceSchema("events", eventsMigrations)

let eventsMigrations = [
  Migration("log", sqlite: logTables + firstRow(of: .sqlite), postgres: logTables + firstRow(of: .postgres)),
  Migration("conversations", conversationTables),
]

/// The log. The one row of `feed` has the position of the last event: its update is the lock under which events are
/// appended, so positions and the numbers of a topic are committed in order and without holes.
///
/// `feed.epoch` names this instance of the log. Where it changes, numbers that clients have kept mean nothing.
private let logTables = """
  create table feed (
    id integer primary key,
    position bigint not null,
    epoch text not null,
    constraint feed_single check (id = 1)
  );

  create table topic (
    name text primary key,
    seq bigint not null,
    constraint topic_seq check (seq > 0)
  );
  create index topic_long on topic (seq);

  create table event (
    position bigint primary key,
    id uuid not null,
    name text not null,
    payload text not null,
    change text,
    access text,
    happened_at timestamptz not null,
    stored_at timestamptz not null
  );
  create unique index event_id on event (id);
  create index event_stored on event (stored_at);

  create table topic_event (
    topic text not null references topic (name),
    seq bigint not null,
    position bigint not null references event (position),
    primary key (topic, seq)
  );
  create index topic_event_position on topic_event (position);

  """

/// Who is present, and messages that are too long for a notification.
private let conversationTables = """
  create table presence_replica (
    id text primary key,
    expires_at timestamptz not null
  );

  create table presence (
    ref text primary key,
    topic text not null,
    key text not null,
    meta text not null,
    replica text not null references presence_replica (id)
  );
  create index presence_topic on presence (topic, ref);
  create index presence_of_replica on presence (replica, ref);

  create table conversation_message (
    id uuid primary key,
    body text not null,
    created_at timestamptz not null
  );
  create index conversation_message_created on conversation_message (created_at);
  """

private func firstRow(of engine: Engine) -> String {
  let random =
    switch engine {
    case .sqlite: "lower(hex(randomblob(16)))"
    case .postgres: "replace(gen_random_uuid()::text, '-', '')"
    }
  return "insert into feed (id, position, epoch) values (1, 0, \(random));"
}
