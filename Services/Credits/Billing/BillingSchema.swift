import Database
import Outbox

/// The tables of billing, in addition to the ledger's.
let billingMigrations = [
  Migration("billing inbox", billingEventTable), Migration("purchases", purchaseTables),
  Migration("subscriptions and customers", subscriptionTables), Outbox.migration,
]

/// Received events, each once by the id that its provider has given it. `sealed` is the encrypted body.
private let billingEventTable = """
  create table billing_event (
    id uuid primary key,
    provider text not null,
    event_id text not null,
    kind text not null,
    sealed bytea not null,
    status text not null,
    reason text,
    user_id uuid,
    received_at timestamptz not null,
    settled_at timestamptz,
    due_at timestamptz,
    lease text,
    tries bigint not null default 0,
    constraint billing_event_provider check (provider in ('apple', 'stripe')),
    constraint billing_event_status check (status in ('waiting', 'done', 'parked', 'ignored')),
    constraint billing_event_due check (due_at is null or status = 'waiting'),
    constraint billing_event_settled check (settled_at is null or status <> 'waiting')
  );
  create unique index billing_event_once on billing_event (provider, event_id);
  create index billing_event_due_at on billing_event (due_at) where due_at is not null;
  create index billing_event_unsettled on billing_event (provider, status) where status in ('waiting', 'parked');
  create index billing_event_parked on billing_event (id) where status = 'parked';
  create index billing_event_user on billing_event (user_id) where user_id is not null;
  create index billing_event_settled_at on billing_event (settled_at) where settled_at is not null;
  """

/// A purchase whose status is `awaited` is known only by a refund that arrived before it. The row is inserted by
/// whichever arrives first, so that the second one waits for the first.
private let purchaseTables = """
  create table billing_purchase (
    id uuid primary key,
    provider text not null,
    transaction_id text not null,
    subscription_id text,
    user_id uuid,
    product_id text,
    quantity bigint not null default 0,
    credits bigint not null default 0,
    credits_taken_back bigint not null default 0,
    amount bigint,
    currency text,
    environment text,
    status text not null,
    revision bigint not null default 0,
    purchased_at timestamptz,
    expires_at timestamptz,
    recorded_at timestamptz not null,
    constraint billing_purchase_provider check (provider in ('apple', 'stripe')),
    constraint billing_purchase_status check (status in ('awaited', 'paid', 'partially_refunded', 'refunded')),
    constraint billing_purchase_known check (status = 'awaited' or product_id is not null),
    constraint billing_purchase_taken_back check (credits_taken_back >= 0 and credits_taken_back <= credits)
  );
  create unique index billing_purchase_transaction on billing_purchase (provider, transaction_id);
  create index billing_purchase_user on billing_purchase (user_id, id) where user_id is not null;
  create index billing_purchase_subscription on billing_purchase (provider, subscription_id)
    where subscription_id is not null;

  create table billing_refund (
    provider text not null,
    transaction_id text not null,
    refund_id text not null,
    amount bigint not null,
    total bigint not null,
    is_final boolean not null,
    state_at timestamptz not null,
    constraint billing_refund_share check (amount >= 0 and total > 0 and amount <= total)
  );
  create unique index billing_refund_id on billing_refund (provider, transaction_id, refund_id);
  """

private let subscriptionTables = """
  create table billing_subscription (
    provider text not null,
    subscription_id text not null,
    user_id uuid,
    product_id text not null,
    tier text not null,
    level bigint not null,
    status text not null,
    current_period_end timestamptz,
    will_renew boolean not null,
    environment text not null,
    state_at timestamptz not null,
    revision bigint not null default 1,
    constraint billing_subscription_provider check (provider in ('apple', 'stripe')),
    constraint billing_subscription_status check (status in ('none', 'active', 'past_due', 'canceled', 'expired'))
  );
  create unique index billing_subscription_id on billing_subscription (provider, subscription_id);
  create index billing_subscription_user on billing_subscription (user_id) where user_id is not null;

  create table billing_customer (
    provider text not null,
    user_id uuid not null,
    customer_id text not null,
    created_at timestamptz not null
  );
  create unique index billing_customer_user on billing_customer (provider, user_id);
  create unique index billing_customer_id on billing_customer (provider, customer_id);
  """
