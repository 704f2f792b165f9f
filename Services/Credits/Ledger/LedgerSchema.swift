/// What of a balance is held, what is owed, and when the first of its lots expires: a lower bound, null when none does.
let accountReserveColumns = """
  alter table ledger_account add column held bigint not null default 0
    constraint ledger_account_held check (held >= 0) constraint ledger_account_over_held check (held <= balance);
  alter table ledger_account add column debt bigint not null default 0
    constraint ledger_account_debt check (debt >= 0)
    constraint ledger_account_debt_first check (debt = 0 or balance = held);
  alter table ledger_account add column lots_expire_at timestamptz;
  create index ledger_account_lots_expire on ledger_account (lots_expire_at) where lots_expire_at is not null;

  """

/// Every grant makes a lot. A balance that is older than the lots is one lot, which its account's last operation stands
/// for. `is_open` is a column, as an index on `remaining > 0` would be written to by every spend.
let lotTable = """
  create table credit_lot (
    operation_id uuid primary key references ledger_operation (id),
    account_id text not null references ledger_account (id),
    position bigint not null,
    amount bigint not null,
    remaining bigint not null,
    held bigint not null default 0,
    is_open boolean not null,
    expires_at timestamptz,
    constraint credit_lot_amount check (amount > 0),
    constraint credit_lot_remaining check (remaining >= 0 and remaining <= amount),
    constraint credit_lot_held check (held >= 0 and held <= remaining),
    constraint credit_lot_is_open check (is_open = (remaining > 0))
  );
  create index credit_lot_open on credit_lot (account_id, expires_at, position) where is_open;
  insert into credit_lot (operation_id, account_id, position, amount, remaining, is_open)
    select p.operation_id, a.id, p.position, a.balance, a.balance, true
    from ledger_account a join ledger_posting p on p.account_id = a.id and p.position = a.posting_count
    where a.balance > 0;

  """

/// The operation of a captured hold names the hold: it is captured once.
let holdTables = """
  create table credit_hold (
    id uuid primary key,
    account_id text not null references ledger_account (id),
    amount bigint not null,
    type text not null,
    description text,
    reference_id text,
    reference_type text,
    caller text not null,
    idempotency_key text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    opened_balance bigint not null,
    opened_held bigint not null,
    state text not null default 'open',
    captured bigint not null default 0,
    settled_at timestamptz,
    settled_balance bigint,
    constraint credit_hold_amount check (amount > 0),
    constraint credit_hold_state check (state in ('open', 'captured', 'released', 'expired')),
    constraint credit_hold_captured check (captured <= amount and (captured > 0) = (state = 'captured')),
    constraint credit_hold_settled check ((settled_at is null) = (state = 'open'))
  );
  create unique index credit_hold_idempotency on credit_hold (caller, idempotency_key);
  create index credit_hold_account on credit_hold (account_id, id);
  create index credit_hold_due on credit_hold (expires_at) where state = 'open';
  create index credit_hold_settled_at on credit_hold (settled_at) where settled_at is not null;

  create table credit_hold_lot (
    hold_id uuid not null references credit_hold (id),
    lot_id uuid not null references credit_lot (operation_id),
    amount bigint not null,
    primary key (hold_id, lot_id),
    constraint credit_hold_lot_amount check (amount > 0)
  );

  alter table ledger_operation add column hold_id uuid references credit_hold (id);
  create unique index ledger_operation_hold on ledger_operation (hold_id) where hold_id is not null;

  """

/// How far the ledger is audited, in one row that all replicas share, and what the audits have found.
let auditTables = """
  create table ledger_audit (
    id bigint primary key,
    verified_operation_id uuid not null,
    audited_at timestamptz,
    due_at timestamptz not null,
    pass_operation_id uuid,
    pass_account_id text,
    pass_began_at timestamptz,
    pass_ended_at timestamptz,
    constraint ledger_audit_one check (id = 1)
  );
  insert into ledger_audit (id, verified_operation_id, due_at)
    values (1, '00000000-0000-0000-0000-000000000000', '2026-01-01T00:00:00.000Z');

  create table ledger_finding (
    check_name text not null,
    subject text not null,
    found_at timestamptz not null,
    primary key (check_name, subject)
  );
  create index ledger_finding_found_at on ledger_finding (found_at);

  """
